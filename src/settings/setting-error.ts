/** A setting has an invalid value. The message never quotes a secret, because it reaches the log and the screen. */
export class SettingError extends Error {
	/** Declared as a field: an assignment would hit the read-only property of `Error` in flash. */
	override readonly name = "SettingError";
	/** The setting's name, as in the table. */
	readonly setting: string;
	/** The error, without the setting's name: "expected a string, got number". */
	readonly problem: string;

	constructor(setting: string, problem: string) {
		super(`${setting}: ${problem}`);
		this.setting = setting;
		this.problem = problem;
	}
}
