/** A request that DynamoDB would refuse, with the SDK's name of the error. */
export class InvalidRequest extends Error {
  override readonly name = 'ValidationException'
}

/** The request is outside of the model: an error of the simulation, never of the gateway. */
export class OutsideModel extends Error {
  override readonly name = 'OutsideModel'
}
