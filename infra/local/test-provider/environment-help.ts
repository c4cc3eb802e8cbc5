export const API_URL = 'https://api.xendit.co'

export const ENVIRONMENT_HELP = `\
  XENDIT_SECRET_KEY      your key of the provider's test mode: xnd_development_…; any other key is refused
  XENDIT_CALLBACK_URL    the public https address of this gateway, for example of a tunnel. Without it, the gateway asks
                         about pending payments every 10 seconds
  XENDIT_CALLBACK_TOKEN  the verification token of the provider's dashboard, with XENDIT_CALLBACK_URL
  XENDIT_API_URL         another https address of the same API. Default: ${API_URL}`
