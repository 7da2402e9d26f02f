// `harrier/wasm` in a browser: nothing of Node.js is reachable from it, and the page of examples/browser, bundled by Vite, draws the
// Mandelbrot set in headless Chromium.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { PNG } from 'pngjs'
import { build, type Rollup } from 'vite'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGE = join(ROOT, 'examples/browser')

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)

/** A browser that touches nothing but the page. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' }

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'harrier-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Serves the files of a folder, and gives the address. */
async function serve(folder: string): Promise<string> {
  const server: Server = createServer((request, response) => {
    const path = join(folder, request.url === '/' ? 'index.html' : decodeURIComponent(request.url!))
    if (relative(folder, path).startsWith('..') || !existsSync(path)) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain' }).end(readFileSync(path))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as { readonly port: number }).port}/`
}

test('the entry reaches nothing of Node.js', async () => {
  const outside: string[] = []
  await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: false,
      lib: { entry: join(ROOT, 'src/wasm.ts'), formats: ['es'] },
      rollupOptions: {
        external(id: string, importer: string | undefined) {
          // Binaryen asks for this one only after it found itself in Node.js.
          if (id === 'node:module' && importer?.includes('/binaryen/')) return true
          if (/^(node:|koffi$|pino$|acorn$)/.test(id)) outside.push(`${id} from ${importer}`)
          return id.startsWith('node:')
        },
      } satisfies Rollup.RollupOptions,
    },
  })
  expect(outside).toEqual([])
})

test('the Mandelbrot page draws in Chromium what plain JavaScript computes', async ({ skip }) => {
  if (CHROMIUM === undefined) {
    console.log('no Chromium on this machine: the page was not looked at (Debian: apt-get install chromium)')
    return skip('no Chromium')
  }
  const site = temporaryFolder()
  await build({ root: PAGE, configFile: false, logLevel: 'silent', build: { outDir: site, emptyOutDir: true } })
  const address = await serve(site)
  const context = await chromium.launchPersistentContext(temporaryFolder(), {
    executablePath: CHROMIUM,
    args: FLAGS,
    viewport: { width: 1000, height: 800 },
  })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  await page.goto(address)
  const timing = page.locator('#timing')
  await timing.filter({ hasText: 'pixels differ' }).waitFor({ timeout: 50_000 })
  expect(problems).toEqual([])
  const text = await timing.textContent()
  console.log(text)
  expect(text).toMatch(/, 0 of 540000 pixels differ$/)

  // The picture itself: the set is black, what lies far outside is not, and the two halves mirror each other.
  const canvas = PNG.sync.read(await page.locator('canvas').screenshot())
  const colourAt = (re: number, im: number): readonly number[] => {
    const x = Math.round(((re + 2.25) / 3) * (canvas.width - 1))
    const y = Math.round(((im + 1) / 2) * (canvas.height - 1))
    return [...canvas.data.subarray(4 * (y * canvas.width + x), 4 * (y * canvas.width + x) + 3)]
  }
  const inside = [
    [0, 0],
    [-0.5, 0],
    [-1, 0],
    [-0.12, 0.74],
    [-0.12, -0.74],
  ] as const
  expect(inside.map((point) => colourAt(point[0], point[1]))).toEqual(inside.map(() => [0, 0, 0]))
  const outside = [
    [0.6, 0.6],
    [-2, 0.9],
    [0.5, -0.8],
    [-1.5, 0.5],
  ] as const
  expect(outside.filter((point) => Math.max(...colourAt(point[0], point[1])) < 30)).toEqual([])
  const pixels = Array.from({ length: canvas.width * canvas.height }, (_, p) => canvas.data.subarray(4 * p, 4 * p + 3))
  const black = pixels.filter((pixel) => pixel.every((channel) => channel === 0)).length
  // The area of the set is 1.5066 of the 6 that the image shows.
  expect(black / pixels.length).toBeGreaterThan(0.24)
  expect(black / pixels.length).toBeLessThan(0.27)
})
