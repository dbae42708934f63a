package menufile

import (
	"fmt"
	"strings"
	"testing"

	"comanda/internal/testenv"
)

// Names of options are compared with all others of the cell. A thousand in each of many rows took minutes.
func TestRead_compares_many_options_once(t *testing.T) {
	var options, groups strings.Builder
	for i := range 500 {
		fmt.Fprintf(&options, "A%d;", i)
		fmt.Fprintf(&groups, "A%d:B|", i)
	}
	for name, text := range map[string]string{"options": "G:" + options.String(), "groups": strings.TrimSuffix(groups.String(), "|")} {
		objects := testing.AllocsPerRun(1, func() {
			if _, problems := readOne(text); len(problems) > 0 {
				t.Error(problems)
			}
		})
		if objects > 20_000 {
			t.Errorf("500 %s took %.0f objects, want at most 20,000", name, objects)
		}
	}
}

// The rows of an item's variants have the name of its first row.
func TestRead_copies_no_long_name(t *testing.T) {
	c := cell{text: strings.Repeat("x", 16*MaxName+1)}
	if got := appendText(c, " Large"); got != c {
		t.Errorf("appended to a name of %d bytes, want it unchanged", len(c.text))
	}
	c.text = "Tea"
	testenv.Equal(t, "Tea Large", appendText(c, " Large").text)
}

// Each empty cell takes more memory than its separator. Separators in quotes are text.
func TestRead_refuses_wide_rows(t *testing.T) {
	wide := strings.Repeat(",", maxSeparators+1)
	_, problems := Read([]byte(head+wide+"\n"), vietnam)
	if len(problems) != 1 || problems[0].Code != TooWide || problems[0].Row != 2 {
		t.Errorf("problems of a wide row = %v, want %s in row 2", problems, TooWide)
	}
	for _, text := range []string{"a,b\n\"" + wide + "\"\n", strings.Repeat(wide[:maxSeparators]+"\n", 2)} {
		testenv.Equal(t, 0, wideAt([]byte(text), ','))
	}
	testenv.Equal(t, 2, wideAt([]byte("\"a\nb\",c\n"+wide), ','))
}
