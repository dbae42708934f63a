package keyspace

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Markdown returns the documentation of the registry, docs/keyspace.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Redis keys\n\nPackage `internal/keyspace` declares every key; no other code can build one. ")
	b.WriteString("A configured namespace precedes all of them.\n\nThe class states what follows a loss:\n\n")
	b.WriteString("- derived: rebuilt from SQL\n")
	b.WriteString("- guarded: rebuilt from SQL; until then readers use SQL or refuse\n")
	b.WriteString("- lossy: not restored\n\n")
	b.WriteString("| Key | Type | TTL | Class | Owner | Source in SQL | Restored by | Invalidated by | Content |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, d := range Declarations() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s | %s |\n",
			d.Pattern, d.Type, d.TTL, d.Class, d.Owner, cmp.Or(d.Source, "-"), cmp.Or(d.Rebuild, "-"),
			cell(d.InvalidatedBy()), cell(d.Purpose))
	}
	b.WriteString("\n## Abbreviations\n\n| In names | Meaning |\n|---|---|\n")
	for _, a := range Legend() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", a.Short, cell(a.Meaning))
	}
	b.WriteString("\n# Redis channels\n\nProcesses notify each other by pub/sub. Redis stores no messages, and a lost one ")
	b.WriteString("only delays an update.\nIf Redis uses ACLs, Comanda's user needs these channels (`&name`), with the ")
	b.WriteString("namespace in front.\n\n| Channel | Owner | Purpose | Message | If a message is lost |\n")
	b.WriteString("|---|---|---|---|---|\n")
	for _, c := range Channels() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", c.Name, c.Owner, cell(c.Purpose), cell(c.Message), cell(c.Loss))
	}
	return b.String()
}

// cell escapes bars in a table cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// String returns the range in readable form.
func (t TTL) String() string {
	switch {
	case t == TTL{}:
		return "none"
	case t.Min == t.Max:
		return short(t.Max)
	case t.Min == 0:
		return "none, or up to " + short(t.Max)
	}
	return short(t.Min) + " to " + short(t.Max)
}

// MarshalText returns the text of String, for JSON.
func (t TTL) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// short omits the zero minutes and seconds that time.Duration prints.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
