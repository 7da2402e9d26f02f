// Installs Debian packages where that can be done without asking anybody: as root on a system with apt.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

function run(args, timeout) {
  console.log(`$ apt-get ${args.join(' ')}`)
  const { status } = spawnSync('apt-get', args, {
    stdio: 'inherit',
    timeout,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  return status === 0
}

/** Whether the packages are installed now. @param timeout milliseconds for each of the two steps; absent: no limit */
export function installWithApt(packages, timeout) {
  const canInstall = existsSync('/usr/bin/apt-get') && process.getuid?.() === 0
  return (
    canInstall &&
    run(['update', '-q'], timeout) &&
    run(['install', '-y', '-q', '--no-install-recommends', ...packages], timeout)
  )
}
