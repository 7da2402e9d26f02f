// Makes sure that a Chromium is on this machine before the tests run: as root on a Debian-like system it installs Debian's. Elsewhere,
// and when that fails, it says so, and the test that needs one is left out.
import { existsSync } from 'node:fs'
import { installWithApt } from './apt.mjs'

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const hasChromium = () => PATHS.some((path) => existsSync(path))

/** Milliseconds; the browser is some 300 MB with what it needs. */
const PATIENCE = 300_000

if (!hasChromium() && !(installWithApt(['chromium'], PATIENCE) && hasChromium())) {
  console.warn(`No Chromium was found (${PATHS.join(', ')}): the test of the browser entry is left out.`)
}
