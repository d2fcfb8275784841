// Runs test files in this process, one after another: `node entry.mjs URL …`.
for (const url of process.argv.slice(2)) {
	await import(url);
}
