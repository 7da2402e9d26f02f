// Warnings to the person who runs the program: through Node.js, which can silence, trace and turn them into errors, where it is there.

/** @param code a stable name by which it can be found and silenced */
export function warn(warning: Error | string, code?: string): void {
  if (typeof globalThis.process?.emitWarning !== 'function') console.warn(warning)
  else if (warning instanceof Error) process.emitWarning(warning)
  else process.emitWarning(warning, code === undefined ? {} : { code })
}
