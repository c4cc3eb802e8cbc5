import type { Provider } from '../provider/provider.ts'
import { type XenditOptions, xenditProvider } from '../provider/xendit/xendit-provider.ts'

export { OTHER_CHANNELS } from '../provider/xendit/xendit-channels.ts'

/** Makes the adapter of this gateway's provider; only this file names it. `UPSTREAM` is its name in the table. */
export const chosenProvider = (options: XenditOptions): Provider => xenditProvider(options)
