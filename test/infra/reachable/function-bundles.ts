import { build } from 'esbuild'
import { MANIFEST } from '../../../functions/manifest.ts'
import { NODE_MAJOR } from '../../../infra/stack/functions/node-major.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'

/**
 * The code that each function can run: its bundle without packages and without the wiring of real
 * dependencies, after dead code is removed.
 */
export async function functionBundles() {
  const { outputFiles } = await build({
    absWorkingDir: PROJECT_ROOT,
    entryPoints: MANIFEST.map(({ entry }) => entry),
    outdir: 'bundles',
    outbase: '.',
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: `node${NODE_MAJOR}`,
    packages: 'external',
    external: ['*/runtime-deps.ts', '*/warm-table.ts', '*/config.ts'],
    logLevel: 'silent',
  })
  return new Map(
    MANIFEST.map(({ name, entry }) => {
      const bundleWith = outputFiles.find(({ path }) =>
        path.endsWith(`/bundles/${entry.replace(/\.ts$/, '.js')}`),
      )
      return [name, bundleWith?.text ?? '']
    }),
  )
}
