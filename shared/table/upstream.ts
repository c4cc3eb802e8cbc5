/** Items of the provider have its name, so that another provider can be added. */
export const UPSTREAM = 'xendit'
