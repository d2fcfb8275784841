/** The address of a device without firmware: locally administered, another for each. */
export function macAddress(at: number): string {
	const digits = at.toString(16).padStart(6, "0");
	return `02:00:00:${digits.slice(0, 2)}:${digits.slice(2, 4)}:${digits.slice(4)}`;
}

/** The token of a device of the bench. */
export function tokenOf(deviceId: string): string {
	return `xsmcp_${deviceId}`;
}
