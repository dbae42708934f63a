package menufile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"comanda/internal/money"
	"comanda/internal/seq"
	"comanda/internal/text"
)

// OptionsCell is the cell of a dish's options, such as
//
//	Size (size): M = 45,000; L = 55,000 * | Toppings (0-3, each 2): Pearls = 8,000; Pudding
//
// Groups are separated by "|" and options by ";". The parenthesis of a group has its kind (size or combo; a choice
// otherwise) and limits: how many options a guest chooses (2, 0-3 or 1+), how often each one (each 2), how many of them
// are free (free 1), whether defaults are credited (credit) or included (included). An asterisk marks a default. A
// backslash before "|", ";", ":", "=", "*" or "\" makes it part of a name.
//
// The cell of a further language, such as options:en, has the names only, in the same order: Size: M; L | Toppings: Pearls;
// Pudding.
type OptionsCell struct {
	Given  bool // false: the cell was empty, and the dish keeps its options
	Groups []OptionGroupCell
}

// OptionGroupCell is a group of a cell.
type OptionGroupCell struct {
	Kind     string // SIZE, CHOICE or COMBO
	Name     string
	Names    map[string]string // in further languages; nil without any
	Min      int64
	Max      *int64 // nil: no limit
	Free     int64
	MaxEach  int64
	Credit   bool // the prices of defaults are credited
	Included bool // defaults do not cost extra
	Options  []OptionCell
}

// OptionCell is an option of a group.
type OptionCell struct {
	Name    string
	Names   map[string]string // in further languages; nil without any
	Price   int64             // in minor units
	Default bool
}

// The kinds of groups in a cell.
const (
	kindSize   = "SIZE"
	kindChoice = "CHOICE"
	kindCombo  = "COMBO"
)

// maxOptions limits the characters of a cell of options.
const maxOptions = 4000

// reserved are the characters that separate the parts of a cell.
const reserved = `|;:=*\`

func escapeName(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(reserved, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// split divides a text at a separator that no backslash precedes. The parts keep their backslashes.
func split(s string, sep byte) (parts []string) {
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case sep:
			parts, start = append(parts, s[start:i]), i+1
		}
	}
	return append(parts, s[start:])
}

// nameOf returns a name without its backslashes and the spaces around it.
func nameOf(s string) string {
	var b strings.Builder
	s = trimSpace(s)
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Text returns the cell as files have it. Equal cells have equal texts.
func (c OptionsCell) Text(o Options) string {
	return strings.Join(seq.Map(c.Groups, func(g OptionGroupCell) string {
		head := escapeName(g.Name)
		l := g.limits()
		if l == "" && strings.HasSuffix(head, ")") {
			l = "0+" // so that the end of the name is not read as limits
		}
		if l != "" {
			head += " (" + l + ")"
		}
		return head + ": " + strings.Join(seq.Map(g.Options, func(p OptionCell) string {
			s := escapeName(p.Name)
			if p.Price != 0 || g.Kind == kindSize {
				s += " = " + o.Currency.Format(p.Price)
			}
			if p.Default {
				s += " *"
			}
			return s
		}), "; ")
	}), " | ")
}

// names returns the cell of a further language; empty if a name is missing in it.
func (c OptionsCell) names(locale string) string {
	complete := true
	name := func(names map[string]string) string {
		complete = complete && names[locale] != ""
		return escapeName(names[locale])
	}
	s := strings.Join(seq.Map(c.Groups, func(g OptionGroupCell) string {
		return name(g.Names) + ": " + strings.Join(seq.Map(g.Options, func(p OptionCell) string { return name(p.Names) }), "; ")
	}), " | ")
	if !complete {
		return ""
	}
	return s
}

// limits returns the words of a group's parenthesis. The usual limits are omitted: one option of a group of sizes, any
// number of different options of another group.
func (g *OptionGroupCell) limits() string {
	var words []string
	if g.Kind != kindChoice {
		words = append(words, strings.ToLower(g.Kind))
	}
	once := g.Min == 1 && g.Max != nil && *g.Max == 1
	switch {
	case g.Kind == kindSize && once, g.Min == 0 && g.Max == nil && g.Kind != kindSize:
	case g.Max == nil:
		words = append(words, fmt.Sprintf("%d+", g.Min))
	case *g.Max == g.Min:
		words = append(words, strconv.FormatInt(g.Min, 10))
	default:
		words = append(words, fmt.Sprintf("%d-%d", g.Min, *g.Max))
	}
	if g.MaxEach != 1 {
		words = append(words, fmt.Sprintf("each %d", g.MaxEach))
	}
	if g.Free != 0 {
		words = append(words, fmt.Sprintf("free %d", g.Free))
	}
	if g.Credit {
		words = append(words, "credit")
	}
	if g.Included {
		words = append(words, "included")
	}
	return strings.Join(words, ", ")
}

// setLimit sets what a word of a group's parenthesis says; ok is false if it is not known.
func (g *OptionGroupCell) setLimit(word string) (ok bool) {
	word = strings.ToLower(trimSpace(word))
	number := func(s string) (n int64, ok bool) {
		n, err := strconv.ParseInt(trimSpace(s), 10, 64)
		return n, err == nil && n >= 0
	}
	if rest, found := strings.CutPrefix(word, "each "); found {
		g.MaxEach, ok = number(rest)
		return ok
	}
	if rest, found := strings.CutPrefix(word, "free "); found {
		g.Free, ok = number(rest)
		return ok
	}
	switch word {
	case "size", "combo":
		if g.Kind = strings.ToUpper(word); g.Kind == kindSize && g.Min == 0 && g.Max == nil {
			g.Min, g.Max = 1, new(int64(1))
		}
		return true
	case "credit":
		g.Credit = true
		return true
	case "included":
		g.Included = true
		return true
	}
	if rest, found := strings.CutSuffix(word, "+"); found {
		g.Min, ok = number(rest)
		g.Max = nil
		return ok
	}
	low, high, ranged := strings.Cut(strings.ReplaceAll(word, "–", "-"), "-")
	if !ranged {
		high = low
	}
	most, ok := number(high)
	if g.Min, ranged = number(low); !ok || !ranged {
		return false
	}
	g.Max = &most
	return true
}

// head reads the name and the parenthesis of a group. A parenthesis with other words is part of the name.
func (g *OptionGroupCell) head(s string) {
	*g = OptionGroupCell{Kind: kindChoice, MaxEach: 1}
	s = trimSpace(s)
	if at := strings.LastIndex(s, "("); at > 0 && strings.HasSuffix(s, ")") {
		limited := *g
		known := true
		for w := range strings.SplitSeq(s[at+1:len(s)-1], ",") {
			known = known && limited.setLimit(w)
		}
		if known {
			*g, s = limited, s[:at]
		}
	}
	g.Name = nameOf(s)
}

// optionsCell reads the cell of options.
func (in *reader) optionsCell(d dish, row *DishRow) {
	s, what := in.text(d, "options", text.Line, maxOptions)
	if what == cleared || what == given {
		row.Options.Given = true
	}
	if what != given {
		return
	}
	names := map[string]bool{}
	for _, part := range split(s, '|') {
		g, problem := readOptionGroup(part, in.options.Currency)
		if problem != "" {
			in.addf(d, "options", OptionsUnreadable, "%q: %s", clip(trimSpace(part)), problem)
			return
		}
		name := Fold(g.Name)
		if names[name] {
			in.addf(d, "options", OptionsUnreadable, "%q: This group is written twice.", clip(g.Name))
			return
		}
		names[name] = true
		row.Options.Groups = append(row.Options.Groups, g)
	}
	for _, locale := range in.options.Locales[1:] {
		in.optionNames(d, row.Options.Groups, locale)
	}
}

// optionNames reads the names of options in a further language.
func (in *reader) optionNames(d dish, groups []OptionGroupCell, locale string) {
	field := "options:" + locale
	s, what := in.text(d, field, text.Line, maxOptions)
	if what != given {
		return
	}
	parts := split(s, '|')
	ok := len(parts) == len(groups)
	for i := 0; ok && i < len(groups); i++ {
		head, list, found := cut(parts[i], ':')
		names := slices.DeleteFunc(seq.Map(split(list, ';'), nameOf), func(s string) bool { return s == "" })
		if ok = found && nameOf(head) != "" && len(names) == len(groups[i].Options); !ok {
			break
		}
		for _, name := range append(names, nameOf(head)) {
			if utf8.RuneCountInString(name) > MaxName {
				in.addf(d, field, OptionsUnreadable, "%q: A name has at most %d characters.", clip(name), MaxName)
				return
			}
		}
		setName(&groups[i].Names, locale, nameOf(head))
		for j, name := range names {
			setName(&groups[i].Options[j].Names, locale, name)
		}
	}
	if !ok {
		in.addf(d, field, OptionsUnreadable,
			"This cell needs the names of the same groups and options as the cell without a language.")
	}
}

// cut divides a text at the first separator that no backslash precedes.
func cut(s string, sep byte) (before, after string, found bool) {
	before = split(s, sep)[0]
	if len(before) == len(s) {
		return s, "", false
	}
	return before, s[len(before)+1:], true
}

func setName(names *map[string]string, locale, name string) {
	if *names == nil {
		*names = map[string]string{}
	}
	(*names)[locale] = name
}

// readOptionGroup reads a group. problem is a sentence about what is wrong; empty if nothing is.
func readOptionGroup(s string, currency money.Currency) (g OptionGroupCell, problem string) {
	parts := split(s, ':')
	if len(parts) != 2 {
		return g, `A group is a name, a colon and options, such as "Size (size): M = 45; L = 55".`
	}
	g.head(parts[0])
	if g.Name == "" || utf8.RuneCountInString(g.Name) > MaxName {
		return g, "A group needs a name."
	}
	names := map[string]bool{}
	for _, text := range split(parts[1], ';') {
		if trimSpace(text) == "" {
			continue // after the last separator
		}
		p, problem := readOption(text, currency)
		if problem != "" {
			return g, problem
		}
		name := Fold(p.Name)
		if names[name] {
			return g, "An option is written twice: " + clip(p.Name)
		}
		names[name] = true
		g.Options = append(g.Options, p)
	}
	if len(g.Options) == 0 {
		return g, "A group needs options."
	}
	return g, ""
}

// readOption reads an option such as "Pearls = 8 *": a name, a price if it costs extra, and a star if it is chosen by
// default.
func readOption(s string, currency money.Currency) (p OptionCell, problem string) {
	s = trimSpace(s)
	if rest, found := strings.CutSuffix(s, "*"); found && !strings.HasSuffix(rest, `\`) {
		p.Default, s = true, trimSpace(rest)
	}
	parts := split(s, '=')
	if p.Name = nameOf(parts[0]); p.Name == "" || utf8.RuneCountInString(p.Name) > MaxName || len(parts) > 2 {
		return p, "An option is a name, and a price if it costs extra, such as Pearls = 8."
	}
	if len(parts) == 1 {
		return p, ""
	}
	price, wrong := parsePrice(trimSpace(parts[1]), currency)
	if wrong.code != "" {
		return p, wrong.message
	}
	p.Price = price
	return p, ""
}
