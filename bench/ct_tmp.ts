import { kernel, Scalar, sin, cos, exp, pow, tanh } from '../src/index.ts'
const x = new Float64Array(10).fill(0.5)
const t = (n: string, f: (x: any) => any) => { const s = performance.now(); const k = kernel(n, { x: Scalar }, ({ x }) => f(x)); k(x); console.log(n, (performance.now() - s).toFixed(0), 'ms', k.source('llvm').split('\n').length, 'lines') }
t('warm', (x) => x.add(1)); t('exp', exp); t('sin', sin); t('sincos', (x) => sin(x).add(cos(x))); for (const n of [8, 20, 50, 110, 200, 400]) t('sin' + n, (x) => { let y = x; for (let i = 0; i < n; i++) y = sin(y.mul(1.1 + i)); return y }); t('pow', (x) => pow(x, 1.5)); t('tanh', tanh)
