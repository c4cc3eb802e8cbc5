/** Beside the assets, in the directory that a deployment is made from: `cdk.out/source-maps/<function>.mjs.map`. */
export const SOURCE_MAPS = 'source-maps'
