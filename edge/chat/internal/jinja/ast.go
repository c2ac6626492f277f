package jinja

// The tree of a template. Nodes are what is between {% and %} and the text
// around it; expressions are what is inside.

// control is how a node ends: on to the next, or out of the loop round.
type control uint8

const (
	onward control = iota
	breakLoop
	continueLoop
)

type node interface {
	exec(e *evaluator) control
}

type (
	textNode struct {
		text string
	}
	printNode struct {
		line int
		x    expr
	}
	ifNode struct {
		line     int
		branches []branch
	}
	forNode struct {
		line   int
		target target
		over   expr
		only   expr // nil: every element
		body   []node
		orElse []node
	}
	setNode struct {
		line   int
		target target
		x      expr
	}
	setBlockNode struct {
		line   int
		target target
		filter expr // of a captured expr; nil: none
		body   []node
	}
	macroNode struct {
		line int
		name string
		sig  signature
		body []node
	}
	callNode struct {
		line int
		sig  signature // of the caller
		call *callExpr
		body []node
	}
	filterNode struct {
		line   int
		filter expr // of a captured expr
		body   []node
	}
	withNode struct {
		line    int
		targets []target
		values  []expr
		body    []node
	}
	controlNode struct {
		control control
	}
)

// branch is one arm of an if; the test of the else arm is nil.
type branch struct {
	test expr
	body []node
}

// signature is the parameters of a macro; a default may be nil.
type signature struct {
	names    []string
	defaults []expr
}

// target is what can be assigned to: a name, an attribute of a namespace, or
// several targets at once.
type target struct {
	name  string
	attr  string // not empty: name.attr
	parts []target
}

type expr interface {
	eval(e *evaluator) Value
}

type (
	constExpr struct {
		v Value
	}
	nameExpr struct {
		name string
	}
	listExpr struct {
		items []expr
		tuple bool
	}
	dictExpr struct {
		keys   []expr
		values []expr
	}
	attrExpr struct {
		x    expr
		name string
	}
	itemExpr struct {
		x   expr
		key expr
	}
	sliceExpr struct {
		x                 expr
		start, stop, step expr // nil: not given
	}
	callExpr struct {
		f    expr
		args arguments
	}
	filterExpr struct {
		x    expr
		name string
		args arguments
	}
	testExpr struct {
		x    expr
		name string
		args arguments
	}
	notExpr struct {
		x expr
	}
	signExpr struct {
		x        expr
		negative bool
	}
	andExpr struct {
		a, b expr
	}
	orExpr struct {
		a, b expr
	}
	condExpr struct {
		test, then expr
		orElse     expr // nil: undefined
	}
	compareExpr struct {
		first expr
		rest  []comparison // a < b < c is a < b and b < c
	}
	mathExpr struct {
		op   string
		a, b expr
	}
	joinExpr struct {
		parts []expr // a ~ b ~ c
	}
	// captured stands for the text that a filter block has rendered.
	captured struct{}
)

type comparison struct {
	op string
	x  expr
}

type arguments struct {
	list  []expr
	named []namedExpr
}

type namedExpr struct {
	name string
	x    expr
}
