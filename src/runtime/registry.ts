// Which backends this process has, and which one a call runs on. Entry points fill the list (src/index.ts for Node.js, src/wasm.ts for
// browsers); nothing falls back silently: the choice and the reasons against the others can be asked for.
import type { Backend, BackendName } from '../backends/backend.ts'
import { HarrierError } from '../errors.ts'
import { warn } from '../warning.ts'

/** In the order of preference; the reference backend is never chosen by itself unless nothing else is there. */
const registered: Backend[] = []

/** Adds a backend behind those that are there; one that is already registered stays. */
export function registerBackend(backend: Backend): void {
  if (!registered.some(({ name }) => name === backend.name)) registered.push(backend)
}

export interface Choice {
  readonly backend: Backend
  /** Why this one. */
  readonly reason: string
  /** Why each one before it cannot run. */
  readonly passedOver: readonly string[]
}

let warnedAboutClang = false

/** A compiler that somebody named and that cannot be used is worth a warning; that there is none is not. */
function warnAboutClang(reason: string): void {
  if (warnedAboutClang || !environment('HARRIER_CLANG')) return
  warnedAboutClang = true
  warn(reason, 'HARRIER_CLANG')
}

const environment = (name: string): string | undefined => globalThis.process?.env?.[name] || undefined

/** A backend by its name. @throws E_BACKEND_UNAVAILABLE when there is none of that name or it cannot run here */
function require(name: string, asked: string): Backend {
  const backend = registered.find((candidate) => candidate.name === name)
  if (!backend) {
    throw new HarrierError(
      'E_BACKEND_UNAVAILABLE',
      `${asked} asks for backend '${name}', which this entry point does not have; it has ${registered.map((known) => known.name).join(', ')}`,
    )
  }
  const availability = backend.availability()
  if (!availability.available) {
    throw new HarrierError(
      'E_BACKEND_UNAVAILABLE',
      `${asked} asks for backend '${name}', which cannot run here: ${availability.reason}`,
    )
  }
  return backend
}

/**
 * The backend for arrays on the host: the one asked for by option or by `HARRIER_BACKEND`, else the first that can run.
 * @throws E_BACKEND_UNAVAILABLE
 */
export function chooseBackend(wanted?: BackendName): Choice {
  if (wanted) return { backend: require(wanted, 'option backend'), reason: 'asked for by option', passedOver: [] }
  const forced = environment('HARRIER_BACKEND')
  if (forced)
    return { backend: require(forced, 'HARRIER_BACKEND'), reason: 'asked for by HARRIER_BACKEND', passedOver: [] }
  const passedOver: string[] = []
  for (const backend of registered) {
    const availability = backend.availability()
    if (availability.available) return { backend, reason: availability.detail, passedOver }
    passedOver.push(`${backend.name}: ${availability.reason}`)
    if (backend.name === 'host') warnAboutClang(availability.reason)
  }
  throw new HarrierError('E_BACKEND_UNAVAILABLE', `no backend can run here: ${passedOver.join('; ')}`)
}

/** Every backend with what it says of itself, in order of preference. */
export const backendReport = (): readonly string[] =>
  registered.map((backend) => {
    const availability = backend.availability()
    return availability.available
      ? `${backend.name}: available, ${availability.detail}`
      : `${backend.name}: not available, ${availability.reason}`
  })
