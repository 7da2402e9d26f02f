// Programs that pass for a clang: shell scripts that answer `--version` and write down every start.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export interface FakeClang {
  readonly path: string
  /** How often it was started. */
  starts(): number
}

/** @param body shell commands for every start other than `--version` */
export function fakeClang(path: string, version: string, body = 'exit 1'): FakeClang {
  const journal = `${path}.starts`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(
    path,
    `#!/bin/sh
echo "$*" >> '${journal}'
if [ "$1" = --version ]; then echo '${version}'; exit 0; fi
${body}
`,
  )
  chmodSync(path, 0o755)
  const starts = () => {
    try {
      return readFileSync(journal, 'utf8').trim().split('\n').length
    } catch {
      return 0
    }
  }
  return { path, starts }
}
