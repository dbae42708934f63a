package analytics

import (
	"cmp"
	"context"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"comanda/internal/catalog"
	"comanda/internal/text"
)

// Limits of searches (AN7). A name of a dish is rarely longer than 40 characters; longer texts, addresses and numbers
// may be about a person, and are not stored.
const (
	MaxSearches   = 10 // of one batch
	maxSearchText = 40 // characters
	maxDigits     = 4
	minSearchText = 2 // characters; one is enough in Chinese

	// MaxSearchDay is the number of different texts of a branch's business date; further ones are not added.
	MaxSearchDay = 2000
)

// visitorBuckets is the number of values that stand for the visitors of one text. A visitor is stored as such a number
// and not as an id, so that it identifies no person. Two visitors may share one, so counts are lower bounds.
const visitorBuckets = 1024

// SearchEvent is one search, as a SearchLog has it.
type SearchEvent struct {
	Branch  int64
	Text    string // see searchText
	Found   bool   // whether a published menu has a dish for it
	Visitor int64  // less than visitorBuckets
}

// SearchLog keeps the searches of business dates in their order for a few days, so that they can be added to SQL. It is
// safe for concurrent use.
type SearchLog interface {
	// LogID returns the name under which SQL stores how far a log was read.
	LogID() string
	// AppendSearches adds searches to a business date. The oldest are dropped beyond a limit.
	AppendSearches(ctx context.Context, date string, all []SearchEvent) error
	// SearchesAfter returns up to limit searches of a business date after a position, which is empty for the begin, and
	// the position of the last one.
	SearchesAfter(ctx context.Context, date, position string, limit int) (all []SearchEvent, next string, err error)
}

// SearchBatch contains the searches of a business date between two positions of a log.
type SearchBatch struct {
	Log, Date string
	From, To  string // positions
	Days      []SearchDay
	Visitors  []SearchVisitor
}

// SearchDay counts the searches for a text on a business date.
type SearchDay struct {
	Branch           int64
	Text             string
	Searches, Missed int64 // Missed are those that found no dish
}

// SearchVisitor is a visitor who has searched a text that was found.
type SearchVisitor struct {
	Branch  int64
	Text    string
	Visitor int64
}

// newSearchBatch counts events. Its lists are sorted, so that transactions lock rows in one order.
func newSearchBatch(log, date, from, to string, all []SearchEvent) SearchBatch {
	days, visitors := map[SearchDay]SearchDay{}, map[SearchVisitor]bool{}
	for _, e := range all {
		key := SearchDay{Branch: e.Branch, Text: e.Text}
		d := cmp.Or(days[key], key)
		d.Searches++
		if e.Found {
			visitors[SearchVisitor{e.Branch, e.Text, e.Visitor}] = true
		} else {
			d.Missed++
		}
		days[key] = d
	}
	return SearchBatch{
		log, date, from, to,
		slices.SortedFunc(maps.Values(days), func(a, b SearchDay) int {
			return cmp.Or(cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.Text, b.Text))
		}),
		slices.SortedFunc(maps.Keys(visitors), func(a, b SearchVisitor) int {
			return cmp.Or(cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Visitor, b.Visitor))
		}),
	}
}

// searchText returns a typed text as it is stored: folded, with one space between words. ok is false for texts that are
// not stored: too short or too long to be a search for a dish, or with an e-mail address or a number in them.
func searchText(typed string) (stored string, ok bool) {
	stored = text.ParseQuery(typed).String()
	n, digits := utf8.RuneCountInString(stored), 0
	for _, r := range stored {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	short := n < minSearchText && !strings.ContainsFunc(stored, isIdeograph)
	return stored, !short && n <= maxSearchText && digits <= maxDigits && !strings.Contains(stored, "@")
}

// isIdeograph reports whether a character is a word by itself, or a part of a text without spaces between words.
func isIdeograph(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// visitorOf returns the number that stands for a visitor of a text. Guests of one visit are one visitor, because they are
// one party.
func visitorOf(branch int64, stored string, v Views) int64 {
	who := "visit " + v.Visit
	if v.User != 0 {
		who = "user " + strconv.FormatInt(v.User, 10)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatInt(branch, 10) + "\n" + stored + "\n" + who)) // never fails
	return int64(h.Sum64() % visitorBuckets)
}

// recordSearches appends the searches of a batch to the log, or to that of this process while the cache is unreachable.
// Whether a text is found is decided here, with the menus of all hours and languages.
func (s *Service) recordSearches(ctx context.Context, menu *catalog.Snapshot, date string, v Views) {
	texts := s.Searches.textsOf(menu.Published().Edition)
	var all []SearchEvent
	for _, typed := range v.Searches {
		stored, ok := searchText(typed)
		if !ok {
			s.CountedSearch("refused")
			continue
		}
		branch, q := menu.Branch.ID, text.ParseQuery(stored)
		all = append(all, SearchEvent{branch, stored, slices.ContainsFunc(texts, q.In), visitorOf(branch, stored, v)})
	}
	if len(all) == 0 {
		return
	}
	result := "dropped"
	switch {
	case s.Cache.AppendSearches(ctx, date, all) == nil:
		result = "counted"
	case s.Fallback != nil && s.Fallback.AppendSearches(ctx, date, all) == nil:
		result = "fallback"
	}
	for range all {
		s.CountedSearch(result)
	}
}

// SearchResults returns the values that CountedSearch receives: searches that were logged in the cache or in this process,
// dropped because neither could be reached, or refused because of their text.
func SearchResults() []string { return []string{"counted", "fallback", "dropped", "refused"} }

const (
	searchBatch = 1000 // events of one transaction
	maxBatches  = 20   // of one log and date in one round; a log has fewer
)

// flushSearches adds the searches of business dates to SQL.
func (s *Service) flushSearches(ctx context.Context, dates []string) (first error) {
	slices.Sort(dates)
	for _, date := range slices.Compact(dates) {
		for _, log := range []SearchLog{s.Fallback, s.Cache} {
			if log == nil {
				continue
			}
			if err := s.flushLog(ctx, log, date); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}

// flushLog adds the searches of a log that SQL does not have. The position moves in the transaction that adds them, and
// only from where they were read, so of several processes one adds them (AN8).
func (s *Service) flushLog(ctx context.Context, log SearchLog, date string) error {
	for range maxBatches {
		from, err := s.Store.SearchPosition(ctx, log.LogID(), date)
		if err != nil {
			return err
		}
		all, to, err := log.SearchesAfter(ctx, date, from, searchBatch)
		if err != nil || len(all) == 0 {
			return err
		}
		if err := s.Store.AddSearches(ctx, newSearchBatch(log.LogID(), date, from, to, all)); err != nil {
			return err
		}
		if len(all) < searchBatch {
			return nil
		}
	}
	return nil
}

// foldDishes returns the texts of each dish of a menu in all languages, folded, as a phone searches them.
func foldDishes(e *catalog.Edition) []string {
	categories := map[int64]string{}
	for _, c := range e.Categories {
		categories[c.ID] = text.FoldLines(maps.Values(c.Names))
	}
	all := make([]string, 0, len(e.Items))
	for _, it := range e.Items {
		own := text.FoldLines(maps.Values(it.Names)) + text.FoldLines(maps.Values(it.Descriptions))
		all = append(all, own+categories[it.CategoryID])
	}
	return all
}
