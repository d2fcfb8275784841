/** Sentences on the console's page, in English, Japanese and Chinese. `{name}` stands for a value. */
export const SENTENCES = {
	approvalsHelp: [
		"Approve a device if it shows this code.",
		"デバイスにこのコードが表示されていれば承認してください。",
		"如果设备上显示此代码，请批准。",
	],
	approved: [
		"{device} was approved. It connects in a moment.",
		"{device} を承認しました。まもなく接続します。",
		"已批准 {device}，它马上就会连接。",
	],
	auditHelp: [
		"Calls and changes, kept by the gateway. The newest 200 are shown; the file has all.",
		"ゲートウェイが記録した呼び出しと変更です。ここには新しい 200 件を表示します。ファイルにはすべて含まれます。",
		"网关记录的调用和更改。此处显示最新的 200 条，文件中包含全部。",
	],
	backendUrl: [
		"The backend's address, for the set-up page or the firmware:",
		"バックエンドのアドレス（設定ページまたはファームウェアに入力）：",
		"后端地址（填入设置页面或固件）：",
	],
	boardHelp: [
		"Flash the firmware, then open the board's Wi-Fi with a phone and enter this address.",
		"ファームウェアを書き込み、スマートフォンでボードの Wi-Fi に接続して、このアドレスを入力します。",
		"烧录固件，然后用手机连接开发板的 Wi-Fi，填入此地址。",
	],
	bootstrapUrl: [
		"Or the address that names the backend (OTA URL):",
		"または、バックエンドを知らせるアドレス（OTA URL）：",
		"或告知后端的地址（OTA URL）：",
	],
	challengeByHand: [
		"To try the endpoint without the gateway, post a signed challenge. It answers with the challenge:",
		"ゲートウェイなしでエンドポイントを試すには、署名付きのチャレンジを送信します。エンドポイントはそのチャレンジを返します：",
		"要在没有网关的情况下测试端点，请发送签名的质询。端点会返回该质询：",
	],
	clientsHelp: [
		"Applications in a session. Those of MCP 2026-07-28 have no sessions and are seen in the calls.",
		"セッション中のアプリケーションです。MCP 2026-07-28 にはセッションがないため、呼び出しの記録に表示されます。",
		"处于会话中的应用。MCP 2026-07-28 没有会话，只出现在调用记录中。",
	],
	confirm: ["Are you sure?", "よろしいですか？", "确定吗？"],
	confirmCall: [
		"Call “{tool}”? It may change something that cannot be undone.",
		"「{tool}」を呼び出しますか？元に戻せない変更になることがあります。",
		"要调用“{tool}”吗？它可能造成无法撤销的更改。",
	],
	confirmForget: [
		"Forget {device}? Its name and tags are lost.",
		"{device} を削除しますか？名前とタグは失われます。",
		"要删除 {device} 吗？它的名称和标签将丢失。",
	],
	confirmReboot: ["Restart {device}?", "{device} を再起動しますか？", "要重启 {device} 吗？"],
	confirmRevoke: [
		"Revoke the token {token}? Whoever uses it is disconnected at once.",
		"トークン {token} を取り消しますか？使用中の接続はすぐに切断されます。",
		"要撤销令牌 {token} 吗？使用它的连接会立即断开。",
	],
	confirmUpdate: [
		"Install new firmware on {device}? It restarts afterwards.",
		"{device} に新しいファームウェアをインストールしますか？その後、再起動します。",
		"要在 {device} 上安装新固件吗？之后它会重启。",
	],
	connectHelp: [
		"Any MCP client can use the devices at this address:",
		"MCP クライアントはこのアドレスでデバイスを使えます：",
		"任何 MCP 客户端都可以通过此地址使用设备：",
	],
	connectWithToken: [
		"Any MCP client can use the devices at this address, with a token:",
		"MCP クライアントはトークンを使い、このアドレスでデバイスを使えます：",
		"任何 MCP 客户端都可以凭令牌通过此地址使用设备：",
	],
	expired: [
		"Your session has ended: it expired, or its token was revoked. Sign in again.",
		"セッションが終了しました（期限切れ、またはトークンの取り消し）。もう一度サインインしてください。",
		"会话已结束：已过期，或令牌被撤销。请重新登录。",
	],
	extensionHelp: [
		"Open the file with Claude Desktop. It knows this address, and asks for the token. Or:",
		"ファイルを Claude Desktop で開いてください。このアドレスは設定済みで、トークンを尋ねられます。または：",
		"用 Claude Desktop 打开此文件。它已包含此地址，并会询问令牌。或者：",
	],
	firstClientToken: [
		"It is the first token for a client. From now on every client needs one.",
		"クライアント用の最初のトークンです。今後はすべてのクライアントにトークンが必要です。",
		"这是第一个客户端令牌。此后每个客户端都需要令牌。",
	],
	firstDeviceToken: [
		"It is the first token for a device. From now on every device needs one.",
		"デバイス用の最初のトークンです。今後はすべてのデバイスにトークンが必要です。",
		"这是第一个设备令牌。此后每个设备都需要令牌。",
	],
	firstIsOperator: [
		"The first token is an operator's: it manages tokens and servers.",
		"最初のトークンは管理者用です。トークンとサーバーを管理できます。",
		"第一个令牌是管理员令牌：可管理令牌和服务器。",
	],
	inFile: ["In {file}:", "{file} に：", "写入 {file}："],
	inTerminal: ["In a terminal:", "ターミナルで：", "在终端中："],
	isOffline: [
		"The device is offline. Its tools appear when it is back.",
		"デバイスはオフラインです。戻るとツールが表示されます。",
		"设备离线。恢复后会显示它的工具。",
	],
	limitedToken: [
		"Your token is for some devices: other clients are not shown.",
		"このトークンは一部のデバイス用のため、ほかのクライアントは表示されません。",
		"你的令牌只用于部分设备，不显示其他客户端。",
	],
	lockedBySetting: [
		"No client may call these: the setting userTools does not name this device.",
		"どのクライアントも呼び出せません。設定 userTools にこのデバイスがありません。",
		"任何客户端都不能调用这些工具：设置 userTools 中没有此设备。",
	],
	lockedByToken: [
		"Your token may not call these: it was created without --allow-user-tools.",
		"このトークンでは呼び出せません。--allow-user-tools なしで作成されています。",
		"你的令牌不能调用这些工具：创建时没有 --allow-user-tools。",
	],
	lost: [
		"The gateway cannot be reached. This page goes on as soon as it is back.",
		"ゲートウェイに接続できません。復旧すると自動的に続行します。",
		"无法连接网关。恢复后本页面会自动继续。",
	],
	makeToken: [
		"The gateway's command line makes a token:",
		"トークンはゲートウェイのコマンドラインで作成します：",
		"用网关的命令行创建令牌：",
	],
	moreTools: ["{count} more: search for them.", "ほかに {count} 件。検索してください。", "还有 {count} 个，请搜索。"],
	nameHelp: [
		'Letters, digits, "_", "." and "-"; begins with a letter or digit; 64 at most',
		"英数字と「_」「.」「-」。先頭は英数字、64 文字以内",
		"字母、数字和“_”“.”“-”；以字母或数字开头；最多 64 个字符",
	],
	neverConnected: [
		"Never connected: {devices}. Check the id.",
		"一度も接続していません：{devices}。ID を確認してください。",
		"从未连接：{devices}。请检查 ID。",
	],
	noCalls: ["No call yet.", "呼び出しはまだありません。", "还没有调用。"],
	noGroups: [
		"No tool is shared by two devices that are online.",
		"オンラインの 2 台以上のデバイスに共通するツールはありません。",
		"没有两台在线设备共有的工具。",
	],
	noHistory: ["Nothing was measured in this time.", "この期間の記録はありません。", "这段时间没有记录。"],
	noLog: ["Nothing logged yet.", "ログはまだありません。", "还没有日志。"],
	noPicture: [
		"No picture was taken since this page was opened.",
		"このページを開いてから撮影された画像はありません。",
		"打开本页面后没有拍摄图片。",
	],
	noServers: [
		"No other MCP servers are configured (setting serversFile).",
		"ほかの MCP サーバーは設定されていません（設定 serversFile）。",
		"没有配置其他 MCP 服务器（设置 serversFile）。",
	],
	noTokensYet: [
		"Nobody needs a token yet: every program on this machine may use the gateway. From the first token for clients on, each client needs one.",
		"まだトークンは不要です。このコンピューターのすべてのプログラムがゲートウェイを使えます。クライアント用のトークンを作ると、以後すべてのクライアントに必要になります。",
		"目前不需要令牌：本机的所有程序都可以使用网关。创建第一个客户端令牌后，每个客户端都需要令牌。",
	],
	noneFound: ["Nothing found.", "見つかりません。", "没有找到。"],
	notAPicture: ["This is not a picture.", "これは画像ではありません。", "这不是图片。"],
	notJson: ["This is not JSON.", "JSON ではありません。", "这不是 JSON。"],
	notOperator: [
		"Tokens are managed with an operator's token (token add NAME --for client --operator).",
		"トークンの管理には管理者トークンが必要です（token add NAME --for client --operator）。",
		"管理令牌需要管理员令牌（token add NAME --for client --operator）。",
	],
	notShown: [
		"This cannot be shown here: see the JSON.",
		"ここでは表示できません。JSON を見てください。",
		"此处无法显示，请查看 JSON。",
	],
	nothingNewer: [
		"The gateway has no newer firmware for it.",
		"ゲートウェイに新しいファームウェアはありません。",
		"网关没有更新的固件。",
	],
	onlyThisMachine: [
		"Only devices on this machine can connect. To let boards in, start the gateway like this:",
		"このコンピューター上のデバイスだけが接続できます。ボードを接続するには、次のようにゲートウェイを起動します：",
		"只有本机上的设备可以连接。要让开发板接入，请这样启动网关：",
	],
	pageNeedsToken: [
		"This page will need a token, too: copy the new one and sign in with it.",
		"このページにもトークンが必要になります。新しいトークンをコピーし、それでサインインしてください。",
		"此页面也将需要令牌：请复制新令牌并用它登录。",
	],
	question: ["What do you see?", "何が見えますか？", "你看到了什么？"],
	readOnlyToken: [
		"Your token is read-only: it shows devices and calls tools that only read.",
		"このトークンは読み取り専用です。デバイスを表示し、読み取りだけのツールを呼び出せます。",
		"此令牌为只读：可查看设备，只能调用只读工具。",
	],
	rejected: ["{device} was rejected.", "{device} を拒否しました。", "已拒绝 {device}。"],
	revokesLastOperator: [
		"It is the last operator's token: afterwards only the gateway's command line creates another one.",
		"最後の管理者トークンです。以後、新しいトークンはゲートウェイのコマンドラインでしか作成できません。",
		"这是最后一个管理员令牌：之后只能用网关的命令行创建新的。",
	],
	revokesOwn: [
		"This page is signed in with it.",
		"このページはこのトークンでサインインしています。",
		"此页面正用它登录。",
	],
	shownOnce: [
		"The token {token}. Copy it now: it is not shown again.",
		"トークン {token} です。今コピーしてください。再表示はできません。",
		"令牌 {token}。请立即复制，之后不再显示。",
	],
	subscribedUntil: [
		"“{event}” is posted until {time}, unless the client renews it.",
		"クライアントが更新しないかぎり、「{event}」は {time} まで送信されます。",
		"除非客户端续订，“{event}”将发送到 {time}。",
	],
	tokenNeeded: [
		"From now on this page needs a token: sign in with it.",
		"今後、このページにはトークンが必要です。トークンでサインインしてください。",
		"此页面现在需要令牌：请用令牌登录。",
	],
	unknownDevice: [
		"There is no device {device}, or your token is not for it.",
		"デバイス {device} は存在しないか、このトークンでは使えません。",
		"没有设备 {device}，或你的令牌不适用于它。",
	],
	virtualDeviceHelp: [
		"The same firmware on this computer. In the project's folder:",
		"このコンピューターで動く同じファームウェアです。プロジェクトのフォルダーで：",
		"在本机上运行的同一固件。在项目文件夹中：",
	],
	webhookNeedsToken: [
		"Events are posted for tokens only: create one and sign in with it.",
		"イベントはトークンに対してのみ送信されます。トークンを作成し、それでサインインしてください。",
		"只为令牌发送事件：请创建令牌并用它登录。",
	],
	wrongToken: ["Invalid token.", "無効なトークンです。", "令牌无效。"],
} as const satisfies Readonly<Record<string, readonly [en: string, ja: string, zh: string]>>;
