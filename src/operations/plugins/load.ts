// Loads a plug-in: opens the library, checks its version, runs its entry, checks what the entry said of itself, and commits. Whatever
// fails, nothing of the plug-in stays registered and what it had handed over is given back. A library is never closed again.
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Address, type Library, addressOf, nativeFunction, openLibrary } from '../../runtime/ffi.ts'
import type { DeviceRuntime } from '../device.ts'
import { PluginError, RegistrationError } from '../errors.ts'
import type { PluginOrigin } from '../origin.ts'
import { type Registry, copyRegistry } from '../registry.ts'
import { show } from '../show.ts'
import {
  ABI_MAJOR,
  ABI_MINOR,
  ENTRY_SYMBOL,
  ERROR_CAPACITY,
  STATUS,
  STRUCTS,
  VERSION_SYMBOL,
  describeStatus,
} from './abi.ts'
import type { NativeData } from './descriptors.ts'
import { placeError, readErrorText } from './error-text.ts'
import { capabilityBits, describeCapabilities, hostTable, whileRegistering } from './host.ts'
import { readStruct, writeStruct } from './layout.ts'
import { LARGEST_STRUCT, StructSizeError, asView, readSizedFrom, readText } from './memory.ts'
import type { Registrar } from './registrar.ts'

/** A plug-in that belongs to a builder or context. */
export interface LoadedPlugin {
  /** Gives back what the plug-in registered, each once: kernels, then operations; then shuts it down. Idempotent. */
  close(): void
}

/**
 * Loads the plug-in in a file.
 * @returns the registry with what the plug-in registered added to that of `registry`, which stays as it is
 * @throws PluginError, or the RegistrationError of the first registration that was refused
 */
export function loadPlugin(
  path: string | URL,
  registry: Registry,
  device: DeviceRuntime,
): { readonly registry: Registry; readonly plugin: LoadedPlugin } {
  const file = pluginFile(path)
  const library = open(file)
  checkVersion(library, file)
  const entry = library.symbol(ENTRY_SYMBOL)
  if (entry === undefined) {
    throw new PluginError('E_PLUGIN_SYMBOL', `plug-in ${file} does not export '${ENTRY_SYMBOL}'`, { file })
  }

  const origin = { kind: 'plugin', file, name: '', version: '' } satisfies PluginOrigin
  const registrar: Registrar = {
    registry: copyRegistry(registry),
    origin,
    owned: { kernels: [], operations: [], locks: [] },
    failure: null,
  }
  const { status, message, info } = runEntry(entry, registrar, device)
  const plugin = pluginOf(registrar, info)
  try {
    if (registrar.failure !== null) throw refusalOf(file, registrar.failure)
    if (status !== STATUS.ok) throw entryError(file, status, message)
    Object.assign(origin, checkInfo(file, info, device))
  } catch (error) {
    plugin.close()
    throw error
  }
  return { registry: registrar.registry, plugin }
}

function pluginFile(path: string | URL): string {
  const refuse = (cause?: unknown): never => {
    throw new RegistrationError(
      'E_SPEC',
      `loadPlugin(${show(path)}): expected the path of a shared library, or a file URL`,
      { cause },
    )
  }
  if (typeof path === 'string' && path !== '' && !path.startsWith('file:')) return resolve(path)
  if (!(path instanceof URL) && (typeof path !== 'string' || path === '')) return refuse()
  try {
    return fileURLToPath(path)
  } catch (cause) {
    return refuse(cause)
  }
}

function open(file: string): Library {
  try {
    return openLibrary(file)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new PluginError('E_PLUGIN_OPEN', `plug-in ${file} cannot be opened: ${reason}`, { file, cause })
  }
}

/** Refuses a plug-in that says that it was built for another major version, before any more of its code runs. */
function checkVersion(library: Library, file: string): void {
  const symbol = library.symbol(VERSION_SYMBOL)
  if (symbol === undefined) return
  const version = nativeFunction(symbol, 'u32', [])()
  const [major, minor] = [version >>> 16, version & 0xffff]
  if (major !== ABI_MAJOR) throw versionError(file, major, minor)
}

function versionError(file: string, major: number, minor: number): PluginError {
  return new PluginError(
    'E_PLUGIN_ABI',
    `plug-in ${file} speaks version ${major}.${minor} of the plug-in interface; this host speaks ${ABI_MAJOR}.${ABI_MINOR}`,
    { file },
  )
}

interface EntryResult {
  readonly status: number
  readonly message: string
  /** The bytes of the `hr_plugin_info` as the entry left them. */
  readonly info: Uint8Array
}

function runEntry(address: Address, registrar: Registrar, device: DeviceRuntime): EntryResult {
  const entry = nativeFunction(address, 'i32', ['address', 'address', 'address', 'address'])
  // An entry that claims a larger hr_plugin_info than it was given is refused, after its bytes were read.
  const memory = new Uint8Array(LARGEST_STRUCT + STRUCTS.hr_error.size + ERROR_CAPACITY)
  const infoAddress = addressOf(memory)
  const info = memory.subarray(0, LARGEST_STRUCT)
  const error = memory.subarray(LARGEST_STRUCT)
  writeStruct(STRUCTS.hr_plugin_info, asView(info), 0, { struct_size: STRUCTS.hr_plugin_info.size })
  const errorAddress = infoAddress + BigInt(LARGEST_STRUCT)
  placeError(error, errorAddress)
  const status = whileRegistering(registrar, (handle) => entry(hostTable(device), handle, infoAddress, errorAddress))
  return { status, message: readErrorText(error), info }
}

/** Takes over what the entry registered and said of itself, to be given back by `close`. */
function pluginOf({ owned }: Registrar, info: Uint8Array): LoadedPlugin {
  const { shutdown, plugin_state } = readStruct(STRUCTS.hr_plugin_info, asView(info))
  let closed = false
  return {
    close() {
      if (closed) return
      closed = true
      for (const data of [...owned.kernels, ...owned.operations]) release(data)
      if (shutdown !== 0n) nativeFunction(shutdown, 'void', ['address'])(plugin_state)
      for (const lock of owned.locks) lock.close()
    },
  }
}

function release({ userData, release: address }: NativeData): void {
  if (address !== 0n) nativeFunction(address, 'void', ['address'])(userData)
}

/** The error of a load that a refused registration made fail, with the plug-in's file in its text. */
function refusalOf(file: string, refusal: unknown): unknown {
  if (refusal instanceof StructSizeError) {
    return new PluginError('E_PLUGIN_ABI', `plug-in ${file}: ${refusal.message}`, { file, cause: refusal })
  }
  if (refusal instanceof RegistrationError) {
    const { code, message, operation, role } = refusal
    return new RegistrationError(code, `plug-in ${file}: ${message}`, { operation, role, cause: refusal })
  }
  return refusal
}

function entryError(file: string, status: number, message: string): PluginError {
  const code = status === STATUS.abi_mismatch ? 'E_PLUGIN_ABI' : 'E_PLUGIN_ENTRY'
  const text = message === '' ? '' : `: ${message}`
  return new PluginError(code, `plug-in ${file}: the entry returned the status ${describeStatus(status)}${text}`, {
    file,
    status,
  })
}

/** Checks an `hr_plugin_info`: size, version, capabilities. Returns what the plug-in calls itself. */
function checkInfo(file: string, bytes: Uint8Array, device: DeviceRuntime): { name: string; version: string } {
  try {
    const info = readSizedFrom(STRUCTS.hr_plugin_info, 'hr_plugin_info', bytes)
    if (info.abi_major !== ABI_MAJOR) throw versionError(file, info.abi_major, info.min_host_minor)
    if (info.min_host_minor > ABI_MINOR) {
      throw new PluginError(
        'E_PLUGIN_ABI',
        `plug-in ${file} needs version ${info.abi_major}.${info.min_host_minor} of the plug-in interface or a later minor one; ` +
          `this host speaks ${ABI_MAJOR}.${ABI_MINOR}`,
        { file },
      )
    }
    const missing = info.required_capabilities & ~capabilityBits(device)
    if (missing !== 0n) {
      throw new PluginError(
        'E_PLUGIN_CAPABILITY',
        `plug-in ${file} needs what this host does not have: ${describeCapabilities(missing)}` +
          (device.unavailable === null ? '' : ` (${device.unavailable})`),
        { file },
      )
    }
    return {
      name: readText('the name of the plug-in', info.name),
      version: readText('the version of the plug-in', info.version),
    }
  } catch (error) {
    throw refusalOf(file, error)
  }
}
