/** The tag of devices that come first in the console. */
export const FAVOURITE = "favourite";
