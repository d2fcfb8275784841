// A reporter for Node's test runner that ends the process at the first test that fails.
export default async function* stopAtFirstFailure(events) {
	for await (const { type } of events) {
		if (type === "test:fail") {
			process.exit(1);
		}
		yield "";
	}
}
