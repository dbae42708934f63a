package documentredis

import (
	"strconv"
	"strings"

	"comanda/internal/document"
)

// A document of an entity with ShowsEntries needs no memo: its JSON shows its version and its index entries. The functions
// of this file read it exactly as the scripts BEGIN and FORGET do.

// shows reports whether a document's JSON shows exactly these entries, so that it needs no memo. It does not if a value is
// encoded in its index or escaped in JSON.
func shows(e *document.Entity, doc, entries string) bool {
	return e.ShowsEntries && shownEntries(e, doc) == entries
}

// shownEntries returns the entries that a document's JSON shows, in the form of memos.
func shownEntries(e *document.Entity, doc string) string {
	var b strings.Builder
	for _, x := range e.Indexes {
		_, rest, found := strings.Cut(doc, `"`+x.Field+`":"`)
		value, _, closed := strings.Cut(rest, `"`)
		if !found || !closed || value == "" || strings.Contains(value, `\`) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(x.Name)
		b.WriteByte('=')
		b.WriteString(value)
	}
	return b.String()
}

// shownMemo returns the memo that a document's JSON shows, or "" for a text that is no such document.
func shownMemo(e *document.Entity, doc string) string {
	at := strings.LastIndex(doc, versionField)
	version, closed := strings.CutSuffix(doc[max(at, 0):], "}")
	version = strings.TrimPrefix(version, versionField)
	if _, err := strconv.ParseUint(version, 10, 63); at < 0 || !closed || err != nil {
		return ""
	}
	return version + "\n" + shownEntries(e, doc)
}

const versionField = `"version":`

// shownFields returns the argument with which the scripts read entries: index=field, one per line.
func shownFields(e *document.Entity) string {
	if !e.ShowsEntries {
		return ""
	}
	lines := make([]string, len(e.Indexes))
	for i, x := range e.Indexes {
		lines[i] = x.Name + "=" + x.Field
	}
	return strings.Join(lines, "\n")
}

// flag returns a boolean argument of a script.
func flag(v bool) string {
	if v {
		return "1"
	}
	return "0"
}
