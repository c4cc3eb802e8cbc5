/** The code asked the model for something that it does not model: an error of the simulation, never of the gateway. */
export class OutsideModel extends Error {
  override readonly name = 'OutsideModel'
}
