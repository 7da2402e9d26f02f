// The log of the library: plain lines on standard error, at the level that HARRIER_LOG names (info when unset).
import { createRequire } from 'node:module'
import type { Logger } from 'pino'
import { HarrierError } from '../errors.ts'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

let logger: Pick<Logger, (typeof LEVELS)[number]> | undefined

/** The logger, made at its first use: it is seldom needed, and the time of a cached first call is counted in milliseconds. */
export function log(): Pick<Logger, (typeof LEVELS)[number]> {
  if (logger !== undefined) return logger
  const level = process.env.HARRIER_LOG ?? 'info'
  if (!LEVELS.some((known) => known === level)) {
    throw new HarrierError('E_OPTION', `HARRIER_LOG is '${level}'; it takes ${LEVELS.join(', ')}`)
  }
  // pino's build for consoles has the same interface and loads in 4 ms instead of 27, as it brings no transports and workers.
  const pino: typeof import('pino').default = createRequire(import.meta.url)('pino/browser.js')
  logger = pino({
    level,
    browser: {
      write(entry: object) {
        if ('msg' in entry) process.stderr.write(`${String(entry.msg)}\n`)
      },
    },
  })
  return logger
}
