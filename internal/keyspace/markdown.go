package keyspace

import (
	"fmt"
	"strings"
	"time"
)

// Markdown returns the documentation of the registry, docs/keyspace.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Redis keys\n\nEvery key is declared in `internal/keyspace`, and nothing else can build one. Losing a ")
	b.WriteString("*derived* key means that it is\nrebuilt from SQL, losing a *guarded* one too, and its readers refuse ")
	b.WriteString("meanwhile; a *lossy* one is forgotten. An optional\nnamespace stands in front of all of them.\n\n")
	b.WriteString("| Key | Type | TTL | Class | Owner | From | Restored by | Holds |\n|---|---|---|---|---|---|---|---|\n")
	for _, d := range Declarations() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n",
			d.Pattern, d.Type, d.TTL, d.Class, d.Owner, orDash(d.Source), orDash(d.Rebuild), cell(d.Purpose))
	}
	b.WriteString("\n# Redis channels\n\nWhat processes tell each other by pub/sub. Nothing there is kept, and nothing of ")
	b.WriteString("it is needed: a message that gets lost costs\ntime. ")
	b.WriteString("Where Redis has access rules, Comanda's user needs these ")
	b.WriteString("channels (`&name`), with the namespace in front.\n\n")
	b.WriteString("| Channel | Owner | Says | Message | When one is lost |\n")
	b.WriteString("|---|---|---|---|---|\n")
	for _, c := range Channels() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", c.Name, c.Owner, cell(c.Purpose), cell(c.Message), cell(c.Loss))
	}
	return b.String()
}

// cell escapes bars in a table cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

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
