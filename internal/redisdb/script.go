package redisdb

import (
	"context"
	"crypto/sha1" //nolint:gosec // the name under which Redis knows a script, no protection
	"encoding/hex"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
)

// Script is a Lua script in two forms. Redis 7 reads the first line, #!lua, and then refuses keys of different slots.
// The embedded store does not support that line, so it gets the text without it.
type Script struct {
	name     string
	full     lua
	embedded lua
	batch    bool // see MustBatchScript
}

// lua is the text of a script and its SHA-1, under which the server caches it.
type lua struct{ text, sha string }

const scriptLine = "#!lua"

// MustScript loads a script from an embedded folder. It panics if the file is missing or does not begin with #!lua,
// which are programming errors that the first start reveals.
func MustScript(files fs.FS, name string) *Script {
	source, err := fs.ReadFile(files, name)
	if err != nil {
		panic("redisdb: " + err.Error())
	}
	text := codeOf(string(source))
	if !strings.HasPrefix(text, scriptLine) {
		panic("redisdb: " + name + " does not begin with " + scriptLine)
	}
	name = strings.TrimSuffix(path.Base(name), ".lua")
	return &Script{name: name, full: luaOf(text), embedded: luaOf(text[strings.IndexByte(text, '\n'):])}
}

func luaOf(text string) lua { return lua{text, shaOf(text)} }

func shaOf(text string) string {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// codeOf removes blank lines and comment lines, so that editing comments changes neither the text that is sent nor its
// SHA-1. Line numbers in error messages refer to the remaining text.
func codeOf(source string) string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "--") {
			b.WriteString(strings.TrimRight(line, "\r\n") + "\n")
		}
	}
	return b.String()
}

// Name returns the script's file name without its extension.
func (s *Script) Name() string { return s.name }

// Text returns the text that is sent to a real Redis.
func (s *Script) Text() string { return s.full.text }

// Run runs a script with EVALSHA, and with EVAL if the server has not cached it. A NOSCRIPT reply has no effect, so R2
// holds. It needs at least one key, because the key decides which server of a Cluster runs it.
func (db *DB) Run(ctx context.Context, s *Script, keys []keyspace.Key, args []string) Reply {
	return db.do(ctx, s.Command(keys, args...))
}

// lua returns the form of a script for this server.
func (db *DB) lua(s *Script) lua {
	if db.embedded {
		return s.embedded
	}
	return s.full
}

func (db *DB) buildScript(c rueidis.Client, cmd Cmd, verb, text string) rueidis.Completed {
	names := make([]string, 1, len(cmd.more)+1)
	names[0] = db.cfg.Namespace.Wire(cmd.key)
	for _, k := range cmd.more {
		names = append(names, db.cfg.Namespace.Wire(k))
	}
	return c.B().Arbitrary(verb, text, strconv.Itoa(len(names))).Keys(names...).Args(cmd.args...).Build()
}

// buildFull returns the call of a script with its text, for a server that has not cached it.
func (db *DB) buildFull(c rueidis.Client, cmd Cmd) rueidis.Completed {
	return db.buildScript(c, cmd, "EVAL", db.lua(cmd.script).text)
}

func (c Cmd) notCached(err error) bool {
	return c.script != nil && err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT")
}
