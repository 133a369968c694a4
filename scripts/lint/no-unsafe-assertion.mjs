// A lint rule: `as` may widen, take `undefined` away (what noUncheckedIndexedAccess adds to `bytes[i]`), or give a number or string its brand.
// Any other narrowing is a claim that nobody checks: parse at the edge, or write a type guard. It is typescript-eslint's no-unsafe-type-assertion
// without what the hot loops of an engine need.

import ts from 'typescript';

export const noUnsafeAssertion = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      fromAny: '`as` from {{from}} is a claim that nobody checks: parse it, or write a type guard.',
      narrows: '`as {{to}}` narrows {{from}} unchecked: write a type guard, or type the source.',
    },
  },
  create(context) {
    const services = context.sourceCode.parserServices;
    const checker = services.program.getTypeChecker();

    function isAllowed(from, to) {
      if (checker.isTypeAssignableTo(from, to)) return true;
      if (checker.isTypeAssignableTo(checker.getNonNullableType(from), to)) return true;
      return isBrandOf(checker.getNonNullableType(from), to);
    }

    /** Whether `to` is `number & { brand }` or the like, and `from` the plain primitive. */
    function isBrandOf(from, to) {
      if (!to.isIntersection()) return false;
      const primitive = to.types.find((part) => (part.flags & (ts.TypeFlags.Number | ts.TypeFlags.String)) !== 0);
      return primitive !== undefined && checker.isTypeAssignableTo(from, primitive);
    }

    return {
      TSAsExpression(node) {
        if (node.typeAnnotation.type === 'TSTypeReference' && node.typeAnnotation.typeName.name === 'const') return;
        const from = services.getTypeAtLocation(node.expression);
        const to = services.getTypeAtLocation(node.typeAnnotation);
        if ((to.flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any)) !== 0) return;
        const data = { from: checker.typeToString(from), to: checker.typeToString(to) };
        if ((from.flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any)) !== 0) context.report({ node, messageId: 'fromAny', data });
        else if (!isAllowed(from, to)) context.report({ node, messageId: 'narrows', data });
      },
    };
  },
};
