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

// documentPatterns are the declarations by the first word of their keys.
var documentPatterns = documentPatternsByWord()

type pattern struct {
	of   *declared
	part DocumentPart
	f    *Documents
	x    *DocumentIndex
}

func documentPatternsByWord() map[string][]pattern {
	byWord := map[string][]pattern{}
	add := func(of *declared, part DocumentPart, f *Documents, x *DocumentIndex) {
		word, _, _ := strings.Cut(of.Pattern, ":")
		byWord[word] = append(byWord[word], pattern{of, part, f, x})
	}
	for _, f := range []*Documents{
		UserDocuments, RoleDocuments, PermissionDocuments, CategoryDocuments, DishDocuments, CartDocuments,
		CartDetailDocuments, OrderDocuments, OrderDetailDocuments,
	} {
		add(f.body, DocumentBody, f, nil)
		add(f.memo, DocumentMemo, f, nil)
		add(f.list, DocumentList, f, nil)
		add(f.counter, DocumentCounter, f, nil)
	}
	for _, x := range []*DocumentIndex{
		UserByEmail, UserByUsername, UserByPhone, UserByDevice, UserByGoogle, UsersByProvince, UsersByCity,
		UsersNotRegistered, RoleByName, RolePermissions, CategoryDishes, DishesByCategory, CartByUser, UserCart, CartItems,
		DetailsOfCart, OrdersByUser, UserOrders, OrderByPaymentRef, OrderDetails, DetailsOfOrder,
	} {
		add(x.of, DocumentEntry, nil, x)
	}
	return byWord
}

// ParseDocument parses a raw document key without its namespace; ok is false for all other keys.
func ParseDocument(raw string) (k DocumentKey, ok bool) {
	word, _, _ := strings.Cut(raw, ":")
	for _, p := range documentPatterns[word] {
		if text, fits := p.of.text(raw); fits {
			return DocumentKey{Key{raw, p.of}, p.f, p.x, p.part, text}, true
		}
	}
	return DocumentKey{}, false
}

// text returns the variable part of a raw key, from its first segment to its last.
func (d *declared) text(raw string) (text string, fits bool) {
	rest, first, last := raw, -1, 0
	for _, p := range d.cut {
		if p.of == "" {
			if rest, fits = strings.CutPrefix(rest, p.text); !fits {
				return "", false
			}
			continue
		}
		n := 0
		for n < len(rest) && n < p.max && p.of.has(rest[n]) {
			n++
		}
		if n < p.min {
			return "", false
		}
		if first < 0 {
			first = len(raw) - len(rest)
		}
		rest = rest[n:]
		last = len(raw) - len(rest)
	}
	if rest != "" {
		return "", false
	}
	if first < 0 {
		return "", true
	}
	return raw[first:last], true
}
