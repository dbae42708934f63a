package redisdb

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/redis/rueidis"

	"comanda/internal/keyspace"
)

// Script is a Lua script in two forms. Redis 7 reads the first line, #!lua, and then refuses keys of different slots.
// The embedded store does not support that line, so it gets the text without it.
type Script struct {
	name string
	text string
	real *rueidis.Lua
	bare *rueidis.Lua

	shaReal, shaBare string

	batch bool // see MustBatchScript
}

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
	return &Script{
		name: strings.TrimSuffix(path.Base(name), ".lua"), text: text,
		real: rueidis.NewLuaScript(text), bare: rueidis.NewLuaScript(withoutFirstLine(text)),
		shaReal: shaOf(text), shaBare: shaOf(withoutFirstLine(text)),
	}
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

func withoutFirstLine(text string) string { return text[strings.IndexByte(text, '\n'):] }

// Name returns the script's file name without its extension.
func (s *Script) Name() string { return s.name }

// Text returns the text that is sent to a real Redis.
func (s *Script) Text() string { return s.text }

// Run runs a script with EVALSHA, and with EVAL if the server has not cached it. A NOSCRIPT reply has no effect, so R2
// holds.
func (db *DB) Run(ctx context.Context, s *Script, keys []keyspace.Key, args []string) Reply {
	names := make([]string, len(keys))
	for i, k := range keys {
		if !k.Valid() {
			return Reply{err: fmt.Errorf("redisdb: script %s: key %d: %w", s.name, i+1, ErrKey)}
		}
		if k.Slot() != keys[0].Slot() {
			return Reply{err: fmt.Errorf("redisdb: script %s: %s and %s: %w", s.name, keys[0], k, ErrSlots)}
		}
		names[i] = db.cfg.Namespace.Wire(k)
	}
	lua := s.real
	if db.embedded {
		lua = s.bare
	}
	var r Reply
	err := db.send(ctx, s.name, func(ctx context.Context, c rueidis.Client) error {
		r = replyOf(lua.Exec(ctx, c, names, args))
		return r.err
	})
	r.err = err
	return r
}
