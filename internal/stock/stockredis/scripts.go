package stockredis

import (
	"embed"

	"comanda/internal/redisdb"
)

//go:embed lua/*.lua
var files embed.FS

var (
	tryScript      = redisdb.MustScript(files, "lua/try.lua")
	applyScript    = redisdb.MustScript(files, "lua/apply.lua")
	beginScript    = redisdb.MustScript(files, "lua/begin.lua")
	loadScript     = redisdb.MustScript(files, "lua/load.lua")
	finishScript   = redisdb.MustScript(files, "lua/finish.lua")
	readScript     = redisdb.MustScript(files, "lua/read.lua")
	snapshotScript = redisdb.MustScript(files, "lua/snapshot.lua")
	hotScript      = redisdb.MustScript(files, "lua/hot.lua")
)

// Limits of one script call. They bound how long a call blocks the server, and the arguments that Lua can unpack at
// once (about 8,000 in Redis, 5,000 in the embedded store).
const (
	maxBatch    = 128  // holds
	maxLines    = 1000 // lines of all holds together
	maxCounters = 1000 // counters in one piece of a snapshot, items in one read
)

// scopeUnknown is the first element of a reply about a scope that the cache lacks, 1 that of any other.
const scopeUnknown = 0
