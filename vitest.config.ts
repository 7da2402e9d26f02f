import { defineConfig } from 'vitest/config'

/** What calls kernels by the backend that is chosen for them, and therefore runs on each. */
const KERNELS = ['derivatives', 'docs', 'runtime'].map((folder) => `test/${folder}/**/*.test.ts`)

export default defineConfig({
  test: {
    testTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: { name: 'host', include: ['test/**/*.test.ts'], globalSetup: ['test/support/noCalls.ts'] },
      },
      { extends: true, test: { name: 'wasm', include: KERNELS, env: { HARRIER_BACKEND: 'wasm' } } },
    ],
  },
})
