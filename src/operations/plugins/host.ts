// The host's side of the interface: the table that an entry is called with. Its two functions are JavaScript, so that they can only
// be called on the thread that loads the plug-in, while the entry runs; each thread that loads plug-ins has tables of its own. A
// table never changes and its memory is never freed, as a plug-in may keep the pointer.
import { type Address, allocateForever, registerCallback, writeMemory } from '../../runtime/ffi.ts'
import { PACKAGE } from '../../package.ts'
import type { DeviceRuntime } from '../device.ts'
import { RegistrationError } from '../errors.ts'
import { ABI_MAJOR, ABI_MINOR, CAPABILITY_BITS, type CapabilityName, STATUS, STRUCTS } from './abi.ts'
import { writeErrorText } from './error-text.ts'
import { writeStruct } from './layout.ts'
import { type Registrar, registerNativeKernel, registerNativeOperation } from './registrar.ts'

/** Tables made on this thread, by what they say of the device. */
const tables = new Map<string, Address>()

/** The registrar of the entry that is running, and the handle that the plug-in knows it by. */
let current: { readonly handle: Address; readonly registrar: Registrar } | null = null

/** Handles are never used twice, so that one kept from another entry is noticed. */
let lastHandle = 0n

/** Runs an entry with a handle through which the host's functions reach a registrar; the handle dies when the entry returns. */
export function whileRegistering<T>(registrar: Registrar, entry: (handle: Address) => T): T {
  lastHandle += 1n
  current = { handle: lastHandle, registrar }
  try {
    return entry(lastHandle)
  } finally {
    current = null
  }
}

/** What a host with this device can do, as the bits of `capabilities`. */
export function capabilityBits(device: DeviceRuntime): bigint {
  const present: Record<CapabilityName, boolean> = {
    cpu: true,
    cuda_built_in: true,
    cuda_usable: device.unavailable === null,
  }
  return capabilityNames()
    .filter((name) => present[name])
    .reduce((bits, name) => bits | (1n << BigInt(CAPABILITY_BITS[name])), 0n)
}

/** The capabilities that some bits ask for, by name; a bit that this version does not know by its number. */
export function describeCapabilities(bits: bigint): string {
  const names = new Map<number, string>(
    capabilityNames().map((name) => [CAPABILITY_BITS[name], name.replaceAll('_', ' ')]),
  )
  return Array.from({ length: 64 }, (_, bit) => bit)
    .filter((bit) => (bits >> BigInt(bit)) & 1n)
    .map((bit) => names.get(bit) ?? `bit ${bit}`)
    .join(', ')
}

function capabilityNames(): CapabilityName[] {
  return Object.keys(CAPABILITY_BITS) as CapabilityName[]
}

/** The address of the `hr_host_api` of this thread for a device. */
export function hostTable(device: DeviceRuntime): Address {
  const capabilities = capabilityBits(device)
  const key = [capabilities, device.deviceCount, device.driverVersion].join(' ')
  const known = tables.get(key)
  if (known !== undefined) return known

  const bytes = new Uint8Array(STRUCTS.hr_host_api.size)
  writeStruct(STRUCTS.hr_host_api, new DataView(bytes.buffer), 0, {
    struct_size: STRUCTS.hr_host_api.size,
    abi_major: ABI_MAJOR,
    abi_minor: ABI_MINOR,
    capabilities,
    host_name: textForever(PACKAGE.name),
    host_version: textForever(PACKAGE.version),
    cuda_device_count: device.deviceCount,
    cuda_driver_version: device.driverVersion,
    next: 0n,
    register_operation: hostFunction(registerNativeOperation),
    register_kernel: hostFunction(registerNativeKernel),
  })
  const table = allocateForever(bytes.length)
  writeMemory(table, bytes)
  tables.set(key, table)
  return table
}

/** A C function of (registrar, descriptor, error) around a registration of this side. */
function hostFunction(register: (registrar: Registrar, desc: Address, error: Address) => number): Address {
  return registerCallback(
    (handle: Address, desc: Address, error: Address) => {
      if (current === null || current.handle !== handle) return refuseHandle(error)
      return register(current.registrar, desc, error)
    },
    'i32',
    ['address', 'address', 'address'],
  )
}

/** Refuses a call with a handle that is dead or made up; it fails the load of the entry that is running, if one is. */
function refuseHandle(error: Address): number {
  const refusal = new RegistrationError(
    'E_SPEC',
    'a registration was made with a registrar that is not that of the entry that is running',
  )
  if (current !== null) current.registrar.failure ??= refusal
  writeErrorText(error, STATUS.invalid_argument, refusal.message)
  return STATUS.invalid_argument
}

function textForever(text: string): { address: Address; length: bigint } {
  const bytes = new TextEncoder().encode(text)
  const address = allocateForever(bytes.length)
  writeMemory(address, bytes)
  return { address, length: BigInt(bytes.length) }
}
