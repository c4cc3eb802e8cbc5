/** A request that DynamoDB would not take, under the name that the SDK gives it. */
export class InvalidRequest extends Error {
  override readonly name = 'ValidationException'
}

/** The code asked the model for something that it does not model: an error of the simulation, never of the gateway. */
export class OutsideModel extends Error {
  override readonly name = 'OutsideModel'
}
