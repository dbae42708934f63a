package keyspace

import "strings"

// DocumentKey is a parsed document key.
type DocumentKey struct {
	Key    Key
	Family *Documents     // for a document, its memo, a list or a counter
	Index  *DocumentIndex // for an index
	Part   DocumentPart
	Text   string // the id of the document, or the value of the index, as in the key
}

// DocumentPart is the kind of a document key.
type DocumentPart int

// The parts.
const (
	DocumentBody DocumentPart = iota + 1
	DocumentMemo
	DocumentList
	DocumentCounter
	DocumentEntry // of an index
)

// ParseDocument parses a raw document key without its namespace; ok is false for all other keys.
func ParseDocument(raw string) (k DocumentKey, ok bool) {
	family, ok := Find(raw)
	if !ok || registry[family].document.Part == 0 {
		return DocumentKey{}, false
	}
	d := registry[family]
	k = d.document
	k.Key, k.Text = Key{raw, d}, d.variable(raw)
	return k, true
}

// variable returns the part of a raw key from its first segment to its last.
func (d *declared) variable(raw string) string {
	head, last := d.cut[0].text, d.cut[len(d.cut)-1]
	if len(d.cut) == 1 { // no segment
		return ""
	}
	raw = strings.TrimPrefix(raw, head)
	if last.of == "" {
		raw = strings.TrimSuffix(raw, last.text)
	}
	return raw
}
