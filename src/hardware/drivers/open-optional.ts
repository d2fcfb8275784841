/** Opens an optional part: undefined if it does not answer. @param name for the trace */
export const openOptional = <Part>(name: string, open: () => Part): Part | undefined => {
	try {
		return open();
	} catch (error) {
		trace(`${name} not opened: ${String(error)}\n`);
		return undefined;
	}
};
