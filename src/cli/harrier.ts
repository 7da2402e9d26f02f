#!/usr/bin/env node
// The `harrier` command. Answers go to standard output, complaints to standard error with the exit status 2.
import { parseArgs } from 'node:util'
import { getInclude } from '../operations/include.ts'
import { PACKAGE } from '../package.ts'

const HELP = `harrier ${PACKAGE.version}: numerical kernels at native speed

  harrier --include    print the folder of the C header for plug-ins, for a compiler's -I
  harrier --version    print the version
  harrier --help       print this
`

const OPTIONS = {
  include: { type: 'boolean' },
  version: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

/** What each option prints. */
const ANSWERS: Record<keyof typeof OPTIONS, () => string> = {
  include: () => `${getInclude()}\n`,
  version: () => `${PACKAGE.version}\n`,
  help: () => HELP,
}

function answer(): string {
  const { values } = parseArgs({ options: OPTIONS })
  const asked = Object.entries(ANSWERS).filter(([option]) => option in values)
  return asked.length === 0 ? HELP : asked.map(([, print]) => print()).join('')
}

try {
  process.stdout.write(answer())
} catch (error) {
  process.stderr.write(`harrier: ${error instanceof Error ? error.message : String(error)}\n${HELP}`)
  process.exitCode = 2
}
