// Makes sure that a clang of version 15 or newer is on this machine before the tests run: as root on a Debian-like system
// it installs Debian's clang-19, elsewhere it says what to install and stops.
import { spawnSync } from 'node:child_process'
import { installWithApt } from './apt.mjs'

const OLDEST = 15
const NEWEST = 22

const names = [
  process.env.HARRIER_CLANG,
  'clang',
  ...Array.from({ length: NEWEST - OLDEST + 1 }, (_, k) => `clang-${NEWEST - k}`),
]

function hasClang() {
  return names.some((name) => {
    if (!name) return false
    const { status, stdout } = spawnSync(name, ['--version'], { encoding: 'utf8' })
    const major = Number(/clang version (\d+)/.exec(stdout ?? '')?.[1] ?? 0)
    return status === 0 && major >= OLDEST
  })
}

if (!hasClang()) {
  const installed = installWithApt(['clang-19', 'llvm-19', 'libomp-19-dev', 'libclang-rt-19-dev'])
  if (!installed || !hasClang()) {
    console.error(
      `No clang of version ${OLDEST} or newer was found on PATH, and the tests of the host backend need one.\n` +
        'Debian, Ubuntu: apt-get install --no-install-recommends clang-19 llvm-19 libomp-19-dev libclang-rt-19-dev\n' +
        'Fedora: dnf install clang llvm libomp-devel    macOS: brew install llvm\n' +
        'A clang elsewhere: set HARRIER_CLANG to its path.',
    )
    process.exit(1)
  }
}
