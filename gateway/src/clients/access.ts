/** What a host may reach, once it is known who it is. */
export interface Access {
	/** Who: the token's name, or "local". For logs, and so that a session is used only by whom it was opened by. */
	readonly principal: string;
	/** Device ids it may reach; absent: every device. */
	readonly devices?: ReadonlySet<string>;
	/** Whether it sees and calls user-only tools; or the ids of the devices of which it does. */
	readonly userTools: boolean | ReadonlySet<string>;
}
