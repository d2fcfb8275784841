/** "pin 34" and "34" are a pin, "0x76" an address on the bus; another name is a part. */
export function readPinName(text: string): number | string {
	const [, pin] = /^(?:pin )?(\d{1,2}|0x[0-9a-f]{1,2})$/.exec(text) ?? [];
	return pin === undefined ? text : Number(pin);
}

/** Whether a value is "on", "off", true or false. */
export function isSwitched(value: unknown): boolean {
	return ["on", "off", true, false].includes(value as string | boolean);
}

export function isOn(value: unknown): boolean {
	return value === "on" || value === true;
}
