/** What a client may reach, once it is known who it is. */
export interface Access {
	/** Who: the token's name, or "local". For logs, and so that a session is used only by whoever opened it. */
	readonly principal: string;
	/** Ids of the devices that it may reach; absent: every device. */
	readonly devices?: ReadonlySet<string>;
	/** Whether it sees and calls user-only tools; or the ids of the devices whose user-only tools it does. */
	readonly userTools: boolean | ReadonlySet<string>;
}
