package keyspace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
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

// Abbreviation is a short form in names of keys, or of fields of a hash.
type Abbreviation struct {
	Short   string `json:"short"`
	Meaning string `json:"meaning"`
}

// legend explains every abbreviation, in alphabetical order. TestLegend_covers_every_key fails on one that is missing.
var legend = []Abbreviation{
	{"app", "application: keys that only Comanda's processes use"},
	{"b", "branch, in the hash tag of keys that one script uses together"},
	{"biz", "business, as in business date"},
	{"bld", "build: epoch of a rebuild in progress (field)"},
	{"cap", "the most units that may be held and used together"},
	{"cis", "the service for guests in the reference documents; its API has paths below /cis"},
	{"ep", "epoch: name of the build that the values belong to (field)"},
	{"jti", "JWT ID, the identifier of an access token (RFC 7519)"},
	{"memo", "what a document's writer remembers: its version and its index entries"},
	{"ord", "order"},
	{"otp", "one-time password: the code of an e-mail"},
	{"pos", "position: instant of the snapshot that was loaded, in Unix milliseconds (field)"},
	{"pub", "published to subscribers (channel)"},
	{"q", "quota of a menu item"},
	{"rank", "items in the order of their scores"},
	{"ref", "reference: the id of a payment at its gateway"},
	{"resv", "reservation: the record of one order's hold"},
	{"rsv", "reserved: units that open holds have"},
	{"temp", "temporary"},
	{"v2", "version 2 of a value's format"},
}

// Legend returns the abbreviations that declared keys and channels, or the descriptions of hashes, use.
func Legend() []Abbreviation {
	used := map[string]bool{}
	for _, d := range Declarations() {
		for _, w := range nameWords(d.Pattern) {
			used[w] = true
		}
		// Fields are described as "ep: epoch".
		for _, w := range strings.FieldsFunc(d.Purpose, func(r rune) bool { return !unicode.IsLetter(r) && r != ':' }) {
			used[strings.TrimSuffix(w, ":")] = used[strings.TrimSuffix(w, ":")] || strings.HasSuffix(w, ":")
		}
	}
	for _, c := range Channels() {
		for _, w := range nameWords(c.Name) {
			used[w] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(legend), func(a Abbreviation) bool { return !used[a.Short] })
}

// nameWords returns the words of a pattern in lower case; camel case such as tokenHash is two words.
func nameWords(pattern string) []string {
	var spaced strings.Builder
	for _, r := range pattern {
		switch {
		case unicode.IsUpper(r):
			spaced.WriteByte(' ')
			spaced.WriteRune(unicode.ToLower(r))
		case unicode.IsLetter(r), unicode.IsDigit(r):
			spaced.WriteRune(r)
		default:
			spaced.WriteByte(' ')
		}
	}
	return strings.Fields(spaced.String())
}
