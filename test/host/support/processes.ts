// Child processes that run a TypeScript file of `children/`, bundled once a test file, and private folders.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { afterAll, onTestFinished } from 'vitest'

export interface Outcome {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

export interface ChildOptions {
  readonly args?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly nodeArgs?: readonly string[]
  /** User and group to run as. */
  readonly user?: number
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Inside the project, so that the bundles find the packages that they import. */
const BUNDLES = mkdtempSync(join(ROOT, 'node_modules', '.harrier-test-'))
// Tests run some of them as another user.
chmodSync(BUNDLES, 0o755)
afterAll(() => rmSync(BUNDLES, { recursive: true, force: true }))

const bundles = new Map<string, Promise<string>>()

/** A file of `children/` with all that it imports of this project, as one JavaScript file: it starts in a tenth of the time. */
function bundle(name: string): Promise<string> {
  const known = bundles.get(name)
  if (known !== undefined) return known
  const made = build({
    configFile: false,
    logLevel: 'silent',
    build: {
      ssr: fileURLToPath(new URL(`../children/${name}.ts`, import.meta.url)),
      outDir: BUNDLES,
      emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: `${name}.mjs` } },
    },
  }).then(() => join(BUNDLES, `${name}.mjs`))
  bundles.set(name, made)
  return made
}

/** Starts a file of `children/`; `finished` settles when it has ended, however it ended. */
export async function startChild(name: string, { args = [], env = {}, nodeArgs = [], user }: ChildOptions = {}) {
  const file = await bundle(name)
  const child = spawn(process.execPath, [...nodeArgs, file, ...args], {
    cwd: ROOT,
    env: { ...process.env, HARRIER_LOG: 'info', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(user === undefined ? {} : { uid: user, gid: user }),
  })
  const output = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.err += text))
  const finished = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, ...output }))
  })
  return { child, finished }
}

export async function runChild(name: string, options?: ChildOptions): Promise<Outcome> {
  const { finished } = await startChild(name, options)
  return finished
}

/** A folder of the running test, removed after it. */
export function privateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'harrier-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
