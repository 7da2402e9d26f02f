// Prints docs/errors.md from the table of error codes: `npx tsx tools/print-errors.ts > docs/errors.md`.
import { ERROR_CODES } from '../src/errors.ts'

export function errorsPage(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
  return [
    '# Errors',
    '',
    'Every refusal is a `HarrierError` with a stable `code`. Its message says what was called, which named value was wrong, what was found, what',
    'was expected and what to do; where another error lies behind it, that is its `cause`. All problems of one call come in one error, and',
    'nothing is written when a call is refused.',
    '',
    '| code | meaning |',
    '| --- | --- |',
    ...rows,
    '',
    'Operations and plug-ins raise errors of their own, listed in [operations.md](operations.md).',
    '',
  ].join('\n')
}

if (import.meta.filename === process.argv[1]) process.stdout.write(errorsPage())
