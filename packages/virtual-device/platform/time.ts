/** Stands for Moddable's `time` module: the computer's clock, which the firmware need not set. */
export default {
	set(): void {},
	get ticks(): number {
		return Date.now() | 0;
	},
};
