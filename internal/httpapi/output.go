package httpapi

// Output is the output of an operation with a JSON body.
type Output[T any] struct{ Body T }

// OutputOf returns an output with a body.
func OutputOf[T any](body T) *Output[T] { return &Output[T]{body} }

// Answer returns the result of a use case as view shows it, or the use case's error.
func Answer[V, T any](view func(V) T, v V, err error) (*Output[T], error) {
	if err != nil {
		return nil, err
	}
	return OutputOf(view(v)), nil
}

// Paging has the query parameters of a list. Embed it in the list's input.
type Paging struct {
	Page int `query:"page" default:"1" minimum:"1" maximum:"1000000"`
	Size int `query:"size" default:"20" minimum:"1" maximum:"100"`
}

// Offset returns the number of items before the page.
func (p Paging) Offset() int { return (p.Page - 1) * p.Size }

// Listed is one page of a list.
type Listed[T any] struct {
	Items []T   `json:"items"`
	Page  int   `json:"page"`
	Size  int   `json:"size"`
	Total int64 `json:"total"`
}

// ListedOf returns a page of a list that has total items, each as view shows it.
func ListedOf[V, T any](p Paging, page []V, total int64, view func(V) T) Listed[T] {
	l := Listed[T]{Items: make([]T, len(page)), Page: p.Page, Size: p.Size, Total: total}
	for i, v := range page {
		l.Items[i] = view(v)
	}
	return l
}

// PageOf returns the requested page of a whole list.
func PageOf[T any](p Paging, all []T) []T {
	all = all[min(p.Offset(), len(all)):]
	return all[:min(p.Size, len(all))]
}
