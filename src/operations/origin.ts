// Where an implementation came from, as `describe()` shows it.

/** A compiled plug-in that a context has loaded. */
export interface PluginOrigin {
  readonly kind: 'plugin'
  /** Absolute path of the shared library. */
  readonly file: string
  /** What the plug-in calls itself. */
  readonly name: string
  readonly version: string
}

export type KernelOrigin =
  | { readonly kind: 'callback' }
  | { readonly kind: 'traced'; readonly name: string }
  | PluginOrigin
