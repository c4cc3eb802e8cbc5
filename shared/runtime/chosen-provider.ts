import type { Provider } from '../provider/provider.ts'
import { type XenditOptions, xenditProvider } from '../provider/xendit/xendit-provider.ts'

export { OTHER_CHANNELS } from '../provider/xendit/other-channels.ts'

/** The provider that this gateway has: the one place that makes its adapter. `UPSTREAM` is its name in the table. */
export const chosenProvider = (options: XenditOptions): Provider => xenditProvider(options)
