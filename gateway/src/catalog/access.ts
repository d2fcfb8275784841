/** What an authenticated client may reach. */
export interface Access {
	/** The token's name, or "local". For logs, and so that only the principal that opened a session can use it. */
	readonly principal: string;
	/** Which token: its hash, since another may get the same name. Absent without a token. */
	readonly holder?: string;
	/** The network address of the client, for limits. */
	readonly address?: string;
	/** Ids of the devices that it may reach; absent: every device. */
	readonly devices?: ReadonlySet<string>;
	/** Whether it sees and calls user-only tools; or the ids of the devices for which it does. */
	readonly userTools: boolean | ReadonlySet<string>;
	/** Whether it only reads: it sees and calls tools that are known to be read-only, and changes nothing. */
	readonly readOnly?: boolean;
	/** Whether a page of another origin calls: it does not get the gateway's own tools. */
	readonly isForeignPage?: boolean;
}

/** Whether a client may reach the device with this id. */
export function reaches({ devices }: Access, id: string): boolean {
	return devices === undefined || devices.has(id);
}
