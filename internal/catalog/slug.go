package catalog

import (
	"cmp"
	"strconv"
	"strings"

	"comanda/internal/text"
)

// maxSlug is the maximum length of a slug in characters, without the number that tells equal ones apart.
const maxSlug = 60

// SlugOf returns the nth slug of a branch's name, from 1: quan-hoa, quan-hoa-2. Slugs identify branches in public
// addresses, beside their ids, so none consists of digits alone.
func SlugOf(name string, n int) string {
	slug := cmp.Or(text.Slug(name, maxSlug), "branch")
	if strings.Trim(slug, "0123456789") == "" {
		slug = "branch-" + slug
	}
	if n > 1 {
		slug += "-" + strconv.Itoa(n)
	}
	return slug
}
