package analytics

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"comanda/internal/cache"
	"comanda/internal/catalog"
	"comanda/internal/text"
)

// Thresholds of suggestions (AN9). A text that fewer visitors have searched could be about one of them.
const (
	MinVisitors    = 5
	suggestionDays = 30

	maxSuggestions = 6
	maxPopularText = 50 // texts that are examined, because some may not be on the menu
	popularAge     = time.Minute
)

// SearchCache keeps the folded texts of menus, and the popular searches of branches. The zero value is empty. It is safe
// for concurrent use.
type SearchCache struct {
	texts   cache.Cache[*catalog.Edition, []string]
	popular cache.Cache[menuIn, []popularSearch]
}

// menuIn is a menu in a language.
type menuIn struct {
	menu   *catalog.Edition
	locale catalog.Locale
}

// popularSearch is a popular search and how the menu spells it.
type popularSearch struct{ folded, spelled string }

// maxEditions bounds the menus whose texts are kept.
const maxEditions = 64

// NewSearchCache returns an empty cache.
func NewSearchCache() *SearchCache {
	c := &SearchCache{}
	c.texts.Max, c.popular.Max = maxEditions, maxEditions
	return c
}

// textsOf returns the folded texts of a menu's dishes. A menu never changes, so they are kept while it is in use.
func (c *SearchCache) textsOf(e *catalog.Edition) []string {
	if c == nil {
		return foldDishes(e)
	}
	if texts, ok := c.texts.Get(e, time.Time{}); ok {
		return texts
	}
	texts := foldDishes(e)
	c.texts.Put(e, texts)
	return texts
}

// popularOf returns the popular searches of a menu in a language, which are read once a minute.
func (c *SearchCache) popularOf(
	of menuIn, now func() time.Time, read func() ([]popularSearch, error),
) ([]popularSearch, error) {
	if c == nil {
		return read()
	}
	return c.popular.Load(of, now, popularAge, read)
}

// Suggestions are searches and dishes that a search field suggests to a guest.
type Suggestions struct {
	Searches []string // popular ones, spelled as on the menu, most visitors first
	Dishes   []Suggested
}

// Suggested is a dish that has the typed words in its name.
type Suggested struct {
	Dish int64
	Name string
}

// Suggest returns what continues or contains a typed text: popular searches, and names of dishes on the menu in force that
// begin with it, or else contain its words. Without a text it returns popular searches only. locale returns the language
// of a branch's guest.
func (s *Service) Suggest(
	ctx context.Context, branch int64, typed string, locale func(catalog.Branch) catalog.Locale,
) (found Suggestions, err error) {
	menu, err := s.Menus.Active(ctx, branch)
	if err != nil {
		return found, err
	}
	in := locale(menu.Branch)
	locales := append([]catalog.Locale{in}, menu.Branch.Locales...)
	popular, err := s.Searches.popularOf(menuIn{menu.Edition, in}, s.Now, func() ([]popularSearch, error) {
		return s.readPopular(ctx, menu, locales)
	})
	if err != nil {
		return found, err
	}
	q := text.ParseQuery(typed)
	for _, p := range popular {
		if len(found.Searches) < maxSuggestions && q.In(p.folded) && q.String() != p.folded {
			found.Searches = append(found.Searches, p.spelled)
		}
	}
	found.Dishes = dishesNamed(menu.Edition, q, locales)
	return found, nil
}

// readPopular returns the popular searches that the menu in force spells, most visitors first.
func (s *Service) readPopular(
	ctx context.Context, menu *catalog.Snapshot, locales []catalog.Locale,
) ([]popularSearch, error) {
	since := visitorsSince(menu.Branch.Calendar().BizDate(s.Now()))
	stored, err := s.Store.PopularSearches(ctx, menu.Branch.ID, since, MinVisitors, maxPopularText)
	if err != nil || len(stored) == 0 {
		return nil, err
	}
	var all []popularSearch
	shown := shownTexts(menu.Edition, locales)
	for _, one := range stored {
		if spelled, ok := spell(one, shown); ok {
			all = append(all, popularSearch{one, spelled})
		}
	}
	return all, nil
}

// dishesNamed returns the dishes with the words of a query in their names, those that begin with it first. It is empty
// without a query.
func dishesNamed(e *catalog.Edition, q text.Query, locales []catalog.Locale) []Suggested {
	if q.Empty() {
		return nil
	}
	var begin, others []Suggested
	listed := map[int64]bool{}
	for _, it := range e.Items {
		name := it.Names.In(locales...)
		folded := text.Fold(name)
		switch {
		case !it.Active || listed[it.DishID] || !q.In(folded):
			continue
		case q.Begins(folded):
			begin = append(begin, Suggested{it.DishID, name})
		default:
			others = append(others, Suggested{it.DishID, name})
		}
		listed[it.DishID] = true
	}
	all := slices.Concat(begin, others)
	return all[:min(len(all), maxSuggestions)]
}

// shownText is a text of the menu in the guest's language.
type shownText struct{ text, folded string }

// shownTexts returns the names of categories, then names of dishes, then descriptions: the order in which a spelling is
// taken from them.
func shownTexts(e *catalog.Edition, locales []catalog.Locale) []shownText {
	var names, descriptions []shownText
	add := func(to *[]shownText, t string) { *to = append(*to, shownText{t, text.Fold(t)}) }
	for _, c := range e.Categories {
		add(&names, c.Names.In(locales...))
	}
	for _, it := range e.Items {
		if it.Active {
			add(&names, it.Names.In(locales...))
			add(&descriptions, it.Descriptions.In(locales...))
		}
	}
	return append(names, descriptions...)
}

// spell returns a folded text as the menu writes it, with a capital at its begin: pho bo is Phở bò. ok is false if the menu
// does not have it as whole words, so that a suggestion is never a half word, a misspelling or a private text.
func spell(stored string, shown []shownText) (spelled string, ok bool) {
	folded := text.Fold(stored)
	for _, t := range shown {
		if !strings.Contains(t.folded, folded) {
			continue
		}
		ends := wordEdges(t.text)
		for i, from := range ends {
			for _, to := range ends[i+1:] {
				if part := t.text[from:to]; text.Fold(part) == folded {
					first, size := utf8.DecodeRuneInString(part)
					return string(unicode.ToUpper(first)) + part[size:], true
				}
			}
		}
	}
	return "", false
}

// maxEdges bounds the work for one text. Names have fewer; of a longer description only the begin is compared.
const maxEdges = 100

// wordEdges returns the places in a text where a word begins or ends. Each ideograph is a word.
func wordEdges(s string) (edges []int) {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
	last := ' '
	for i, r := range s {
		if inWord(last) != inWord(r) || inWord(r) && (isIdeograph(r) || isIdeograph(last)) && !unicode.IsMark(r) {
			edges = append(edges, i)
		}
		last = r
	}
	edges = append(edges, len(s))
	return edges[:min(len(edges), maxEdges)]
}

// visitorsSince returns the first business date that counts for suggestions.
func visitorsSince(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return day.AddDate(0, 0, 1-suggestionDays).Format(time.DateOnly)
}
