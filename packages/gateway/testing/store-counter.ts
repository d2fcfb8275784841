import { FileStore } from "../src/store/file-store.js";

// Counts in a store, and says each number once it is stored, until it is killed.

const store = FileStore.open(process.argv[2] as string);
for (;;) {
	const entry = await store.update("counter/a", (found) => ((found?.value as number | undefined) ?? 0) + 1);
	await store.set("device/a", entry?.value);
	process.stdout.write(`${entry?.value}\n`);
}
